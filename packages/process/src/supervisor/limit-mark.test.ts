import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createCallMarks } from './host-tag.js';
import { hostLimitMark, type LimitMark, openLimitMark } from './limit-mark.js';

const path = process.env.PATH ?? '';

async function opened(): Promise<LimitMark> {
  await openLimitMark();
  return hostLimitMark() ?? expect.fail('prlimit is missing');
}

describe.runIf(process.platform === 'linux')('LimitMark', () => {
  it('marks a process that keeps its id, its name, its environment and its exit code', async () => {
    const mark = await opened();
    const program = 'echo "$$ $0 $A"; env | wc -l; exit 7';
    const { file, args, argv0 } = mark.wrap('/bin/sh', ['-c', program], {
      name: 'sh',
      path: '/bin',
    });
    const env = { PATH: '/bin:/usr/bin', A: 'b' };
    const child = spawnSync(file, args, { argv0, env, encoding: 'latin1' });
    // The shell itself sets `PWD`.
    expect([child.stdout, child.status]).toEqual([`${child.pid} sh b\n3\n`, 7]);
  });

  it('looks no program up in a folder that was not judged', async () => {
    const mark = await opened();
    for (const folders of ['/bin:', ':/bin', '.:/bin', '/nowhere']) {
      const { args } = mark.wrap('/bin/sh', ['-c', ''], { name: 'sh', path: folders });
      expect(args.slice(1)).toEqual(['--', '/bin/sh', '-c', '']);
    }
  });

  it('is found without environment, descriptor, session and parent, and no other is', async () => {
    const mark = await opened();
    const [one, other] = [createCallMarks(), createCallMarks()];
    const program = 'setsid -f env -i sh -c "echo \\$\\$; read line" 3>&-; read line';
    const { file, args, argv0, limit } = mark.wrap('/bin/sh', ['-c', program], {
      name: 'sh',
      path,
    });
    one.next().addLimit(limit);
    // The process ends when its input closes. Node closes that when the first process exits.
    const child = spawn(file, args, { argv0, stdio: ['pipe', 'pipe', 'inherit'] });
    const [said] = await once(child.stdout, 'data');
    const pid = Number(String(said));
    expect([one, other, mark].map((each) => each.carries(pid))).toEqual([true, false, true]);
    expect(mark.carries(process.pid)).toBe(false);
    child.stdin.end();
    await once(child, 'close');
  });

  it('tells what could not be started from what a program says', async () => {
    const mark = await opened();
    const { file, args, argv0 } = mark.wrap('/no/such', [], { name: 'such', path });
    const { stderr } = spawnSync(file, args, { argv0 });
    const failed = mark.observe();
    expect(String(failed.ofCommand(stderr))).toBe('');
    expect(failed.failure()).toContain('/no/such');
    const ran = mark.observe();
    const said = Buffer.from('prlimit: failed to execute /no/such');
    expect([ran.ofCommand(said), ran.failure()]).toEqual([said, undefined]);
  });
});
