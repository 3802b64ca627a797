import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { directoryReach } from '@ethosagent/process';
import { isLongRun } from '@ethosagent/test-support';
import type { ProcessPolicy, ToolCapabilities } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { makeTool, ok, rejection, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { defaultDenyPaths } from './scoped-fs.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const at = (...paths: string[]) => paths.map((path) => join(root, path));

function sandboxed(
  { read = [], write = [], deny = [] }: { read?: string[]; write?: string[]; deny?: string[] } = {},
  options: ScopedProcessOptions = {},
): ScopedProcessImpl {
  const roots = [...read, ...write];
  return new ScopedProcessImpl(new Set(['*']), {
    policy: { sandbox: true },
    ...(roots.length > 0 && { reach: directoryReach({ read, write }, roots, deny) }),
    ...options,
  });
}

const shell = (processes: ScopedProcessImpl, program: string, opts = {}) =>
  processes.spawn('sh', ['-c', program], opts);

describe('ScopedProcessImpl.spawn in a sandbox, files', () => {
  beforeAll(() => {
    for (const path of at(
      'read/deep',
      'write/deep',
      'real/sub',
      'home/.ssh',
      'home/code',
      'tools/bin',
      'tools/lib',
    )) {
      mkdirSync(path, { recursive: true });
    }
    for (const path of at('read/file', 'real/file', 'home/.ssh/key', 'home/notes', 'home/code/x')) {
      writeFileSync(path, path);
    }
    symlinkSync(join(root, 'real'), join(root, 'link'));
    symlinkSync('code', join(root, 'home/current'));
  });

  it.each<[name: string, roots: Parameters<typeof sandboxed>[0], program: string, stdout: string]>([
    ['reads a read root', { read: at('read') }, 'cat file', join(root, 'read/file')],
    [
      'reads a root that is a file',
      { read: at('read/file') },
      `cat ${join(root, 'read/file')}; ls ${root}/read`,
      `${join(root, 'read/file')}file\n`,
    ],
    ['reads a write root', { write: at('write') }, 'echo x > w; cat w; rm w', 'x\n'],
    [
      'writes a root below a read root',
      { read: at('read'), write: at('read/deep') },
      `cd ${root}/read/deep && echo x > w; cat w; rm w; echo y > ../w; ls ..`,
      'x\ndeep\nfile\n',
    ],
    [
      'writes a write root in all its parts',
      { read: at('write/deep'), write: at('write') },
      `cd ${root}/write/deep && echo x > w; cat w; rm w`,
      'x\n',
    ],
    [
      'sees a root by its link and by its real path',
      { read: at('link') },
      `cat ${root}/link/file ${root}/real/file`,
      join(root, 'real/file').repeat(2),
    ],
    [
      'sees a root below a link',
      { read: at('link/sub') },
      `cd ${root}/link/sub && pwd -P`,
      `${root}/real/sub\n`,
    ],
    [
      'sees nothing of a root that is not there',
      { read: at('read', 'gone') },
      `ls ${root}`,
      'read\n',
    ],
    [
      'sees the rest of a folder with a denied one',
      { write: at('home'), deny: at('home/.ssh', 'home/.netrc') },
      'ls -A; cat current/x; echo x > code/new; ls code; rm code/new',
      `code\ncurrent\nnotes\n${root}/home/code/xnew\nx\n`,
    ],
    [
      'puts nothing into a folder with a denied one',
      { write: at('home'), deny: at('home/.ssh') },
      'echo x > new; mkdir .ssh; mv code other; ls -A',
      'code\ncurrent\nnotes\n',
    ],
    [
      'sees nothing of a root that is denied',
      { read: at('read', 'home/.ssh'), deny: at('home/.ssh') },
      `ls -A ${root}; ls -A ${root}/home`,
      'read\n',
    ],
    [
      'has an empty /tmp, and no other files, without a reach',
      {},
      `pwd; ls -A; ls ${root} /home /root`,
      '/tmp\n',
    ],
  ])('%s', async (_name, roots, program, stdout) => {
    expect((await shell(sandboxed(roots), `exec 2>/dev/null; ${program}`)).stdout).toBe(stdout);
  });

  it('reads what everybody may read with the reach /, and neither the deny floor nor the kernel', async () => {
    const everything = sandboxed({ read: ['/'], deny: defaultDenyPaths() });
    const { stdout } = await shell(
      everything,
      `cat ${root}/read/file; cat /etc/shadow; echo x > ${root}/read/w; ls /sys ${homedir()}/.ssh; ls -d /proc/[0-9]* | wc -l`,
    );
    expect(stdout).toMatch(/^\/\S+read\/file[1-9]\n$/);
    expect(existsSync(join(root, 'read/w'))).toBe(false);
  });

  it('writes what its host may write with the reach /', async () => {
    const everything = sandboxed({ write: ['/'], deny: defaultDenyPaths() });
    await shell(everything, `echo x > ${root}/write/by-root`);
    expect(readFileSync(join(root, 'write/by-root'), 'utf8')).toBe('x\n');
  });

  it.each([
    ['outside the reach', join(root, 'home')],
    ['outside the reach, a folder of the system', '/usr'],
  ])('refuses a cwd %s', async (_name, cwd) => {
    for (const processes of [sandboxed({ read: at('read') }), sandboxed()]) {
      expect(await rejection(shell(processes, 'pwd', { cwd }))).toMatchObject({
        code: 'PATH_NOT_REACHABLE',
      });
    }
  });

  it('works in a cwd within the reach, by its real path', async () => {
    const { stdout } = await shell(sandboxed({ read: at('link') }), 'pwd', {
      cwd: join(root, 'link/sub'),
    });
    expect(stdout).toBe(`${root}/real/sub\n`);
  });

  it('refuses a reach of more parts than a sandbox can hold', async () => {
    const names = Array.from({ length: 1200 }, (_, index) => `many/${index}`);
    for (const name of names) mkdirSync(join(root, name), { recursive: true });
    const wide = sandboxed({ read: at('many'), deny: at('many/0') });
    expect(await rejection(shell(wide, ':'))).toMatchObject({
      code: 'SPAWN_FAILED',
      message: expect.stringContaining('fs_reach'),
    });
  });
});

describe('ScopedProcessImpl.spawn in a sandbox, the deny floor', () => {
  it('holds below a folder that the host reaches through a link, for what is not there yet too', async () => {
    mkdirSync(join(root, 'floor/real'), { recursive: true });
    symlinkSync('real', join(root, 'floor/link'));
    const processes = sandboxed({ write: at('floor/real'), deny: at('floor/link/.netrc') });
    const { exitCode } = await shell(processes, `echo x > ${root}/floor/real/.netrc`);
    expect([exitCode === 0, existsSync(join(root, 'floor/real/.netrc'))]).toEqual([false, false]);
  });

  it('holds, five seconds later, for a denied path that became a link into the reach', async () => {
    mkdirSync(join(root, 'later/reach'), { recursive: true });
    writeFileSync(join(root, 'later/reach/key'), 'KEY');
    const processes = sandboxed({ read: at('later/reach'), deny: at('later/denied') });
    expect(await shell(processes, `cat ${root}/later/reach/key`)).toMatchObject({ stdout: 'KEY' });
    symlinkSync('reach/key', join(root, 'later/denied'));
    const later = performance.now() + 6_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
    const { stdout } = await shell(processes, `cat ${root}/later/reach/key`);
    clock.mockRestore();
    expect(stdout).toBe('');
  });
});

describe('ScopedProcessImpl.spawn in a sandbox, programs', () => {
  const PATH = `${root}/tools/bin:${root}/links:/usr/bin:/bin`;
  beforeAll(() => {
    mkdirSync(join(root, 'links'));
    writeFileSync(join(root, 'tools/lib/data'), 'data');
    writeFileSync(
      join(root, 'tools/bin/tool'),
      `#!/bin/sh\necho "$0"; cat "$(dirname "$(realpath "$0")")/../lib/data"\n`,
    );
    writeFileSync(join(root, 'single'), '#!/bin/sh\necho single; ls "$(dirname "$0")"\n');
    writeFileSync(join(root, 'tools/bin/broken'), '#!/no/such/interpreter\n');
    for (const path of at('tools/bin/tool', 'tools/bin/broken', 'single')) chmodSync(path, 0o755);
    symlinkSync('../tools/bin/tool', join(root, 'links/linked'));
  });
  const run = (binary: string, roots = {}) =>
    sandboxed(roots, { baseEnv: { PATH } }).spawn(binary, []);

  it.each<[name: string, binary: string, stdout: string]>([
    ['outside the system, with the lib beside its bin', 'tool', `${root}/tools/bin/tool\ndata`],
    ['outside the system, by a link', 'linked', `${root}/links/linked\ndata`],
    ['outside the system, alone', join(root, 'single'), 'single\nsingle\n'],
  ])('runs a program %s', async (_name, binary, stdout) => {
    expect(await run(binary)).toMatchObject({ stdout, stderr: '', exitCode: 0 });
    expect(await run(binary, { write: at('tools', 'links') })).toMatchObject({ exitCode: 0 });
  });

  it('a program that can not be executed is SPAWN_FAILED', async () => {
    expect(await rejection(run('broken'))).toMatchObject({ code: 'SPAWN_FAILED' });
  });

  it('a program that says of itself what a failed start says has its own exit code', async () => {
    expect(await shell(sandboxed(), 'echo "bwrap: no" >&2; exit 1')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'bwrap: no\n',
    });
  });

  it.each([
    ['a home that it does not see', {}, '/tmp /tmp\n'],
    ['a home that it sees', { read: at('home') }, `${root}/home /tmp\n`],
    [
      'a home of which it sees a part',
      { read: at('home'), deny: at('home/.ssh') },
      `${root}/home /tmp\n`,
    ],
  ])('has a HOME and a TMPDIR that are there, for %s', async (_name, roots, stdout) => {
    const baseEnv = { PATH, HOME: join(root, 'home'), TMPDIR: '/var/tmp' };
    const processes = sandboxed(roots, { baseEnv });
    expect((await shell(processes, 'echo "$HOME $TMPDIR"')).stdout).toBe(stdout);
  });

  it('passes on what the tool sets', async () => {
    const env = { TMPDIR: '/dev/shm', FOO: 'a b' };
    expect((await shell(sandboxed(), 'echo "$TMPDIR $FOO"', { env })).stdout).toBe(
      '/dev/shm a b\n',
    );
  });

  // In one of its own, a program has every capability, and the kernel more to be attacked by.
  it('makes no user namespaces', async () => {
    const code = 'unshare --user true 2>&1; echo $?';
    const { stdout } = await shell(sandboxed(), code);
    expect(stdout).toMatch(/unshare failed.*\n1\n$/);
  });

  it.runIf(isLongRun())('git and node work as they do outside', async () => {
    mkdirSync(join(root, 'repo'));
    const processes = sandboxed({ write: at('repo') });
    const id = ['-c', 'user.name=a', '-c', 'user.email=a@b.example'];
    const code = 'require("fs").writeFileSync("f", process.version)';
    expect(await processes.spawn('node', ['-e', code])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await processes.spawn('git', ['init', '-q'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await processes.spawn('git', ['add', 'f'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await processes.spawn('git', [...id, 'commit', '-qm', 'x'])).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect((await processes.spawn('git', ['show', 'HEAD:f'])).stdout).toBe(process.version);
  });
});

const declares = { process: { allowedBinaries: ['sh', 'echo'] } } satisfies ToolCapabilities;
/** A `PATH` with programs but without bubblewrap. */
const bare = join(root, 'bare');

async function call(
  policy: CapabilityBackends['personalityProcess'],
  backends: CapabilityBackends = {},
  program = 'echo ran',
) {
  const audit = new MemoryAuditSink();
  let executed = false;
  const registry = new DefaultToolRegistry({
    ...(policy !== undefined && { personalityProcess: policy }),
    audit,
    ...backends,
  });
  registry.register(
    makeTool(
      'run',
      async (_args, ctx) => {
        executed = true;
        const result = await ctx.scopedProcess?.spawn('sh', ['-c', program]);
        return ok(result?.stdout ?? '');
      },
      { capabilities: declares },
    ),
  );
  const result = await runOne(registry, 'run', {}, { personalityId: 'p' });
  const events = audit.events.map(({ decision, reason }) => `${decision}: ${reason}`);
  return { result, events, executed };
}

describe('safety.process.sandbox', () => {
  beforeAll(() => {
    mkdirSync(bare);
    for (const name of ['sh', 'echo']) symlinkSync(`/usr/bin/${name}`, join(bare, name));
    writeFileSync(join(bare, 'bwrap-that-fails'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bare, 'bwrap-that-fails'), 0o755);
    mkdirSync(join(root, 'failing'));
    symlinkSync(join(bare, 'bwrap-that-fails'), join(root, 'failing/bwrap'));
  });
  const inside = 'test -e /etc/hostname || test -e /root || echo ran';
  const without = { processEnv: { PATH: bare } };
  const failing = { processEnv: { PATH: `${root}/failing:${bare}` } };
  const unavailable = {
    ok: false,
    code: 'not_available',
    error: expect.stringContaining('SANDBOX_UNAVAILABLE'),
    cause: 'SANDBOX_UNAVAILABLE',
  };

  it.each<[ProcessPolicy['sandbox'], string]>([
    [true, 'allowed: declared as sh, sandboxed'],
    ['required', 'allowed: declared as sh, sandboxed'],
    ['preferred', 'allowed: declared as sh, sandboxed'],
  ])('%j runs processes in one, and says so', async (sandbox = false, event) => {
    expect(await call({ sandbox }, {}, inside)).toEqual({
      result: ok('ran\n'),
      events: [event],
      executed: true,
    });
  });

  it.each<[string, CapabilityBackends['personalityProcess'], string]>([
    ['false', { sandbox: false }, 'allowed: declared as sh'],
    ['an absent one', {}, 'allowed: declared as sh'],
    [
      'another personality’s',
      (id) => (id === 'p' ? {} : { sandbox: true }),
      'allowed: declared as sh',
    ],
  ])('%s runs plain processes', async (_name, policy, event) => {
    const { result, events } = await call(policy, {}, `cat ${root}/read/file`);
    expect({ result, events }).toEqual({ result: ok(join(root, 'read/file')), events: [event] });
  });

  it.each<[string, CapabilityBackends, NonNullable<ProcessPolicy['sandbox']>]>([
    ['true, without bubblewrap', without, true],
    ['required, without bubblewrap', without, 'required'],
    ['required, with a bubblewrap that fails', failing, 'required'],
  ])('%s: the tool does not run', async (_name, backends, sandbox) => {
    const policy: ProcessPolicy = { sandbox };
    for (const source of [policy, () => policy]) {
      expect(await call(source, backends)).toEqual({
        result: unavailable,
        events: [],
        executed: false,
      });
    }
  });

  it.each([
    ['without bubblewrap', without],
    ['with a bubblewrap that fails', failing],
  ])('preferred, %s, runs plain processes, and says so', async (_name, backends) => {
    expect(await call({ sandbox: 'preferred' }, backends)).toEqual({
      result: ok('ran\n'),
      events: ['allowed: declared as sh, not sandboxed: this machine has no sandbox'],
      executed: true,
    });
  });

  it('a tool that starts no processes runs where a sandbox is missing', async () => {
    const registry = new DefaultToolRegistry({ personalityProcess: { sandbox: true }, ...without });
    registry.register(makeTool('idle', () => ok('done')));
    expect(await runOne(registry, 'idle')).toEqual(ok('done'));
  });

  it('a bubblewrap that somebody planted before the system’s is passed over', async () => {
    const processEnv = { PATH: `${root}/failing:/usr/bin:/bin` };
    expect(await call({ sandbox: 'required' }, { processEnv }, inside)).toMatchObject({
      result: ok('ran\n'),
    });
  });

  it('a bubblewrap in a folder that tools may write counts for nothing', async () => {
    mkdirSync(join(root, 'planted'));
    const fake = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n';
    writeFileSync(join(root, 'planted/bwrap'), fake, { mode: 0o755 });
    const processEnv = { PATH: `${root}/planted:${bare}` };
    expect(await call({ sandbox: 'required' }, { processEnv })).toEqual({
      result: unavailable,
      events: [],
      executed: false,
    });
  });

  it('ScopedProcessImpl by itself refuses where it is required and missing', async () => {
    const processes = sandboxed({}, { baseEnv: { PATH: bare } });
    expect(await rejection(processes.spawn('echo', []))).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      rule: 'sandbox required',
    });
  });
});

describe('safety.process.arguments', () => {
  const policy: ProcessPolicy = {
    arguments: {
      sh: { deny: ['-x', '* secret-argument'] },
      echo: { allow: ['a*'] },
      tar: { deny: ['-I'] },
    },
  };
  const processes = (sandbox: boolean) =>
    new ScopedProcessImpl(new Set(['*']), { policy: { ...policy, sandbox } });

  beforeAll(() => symlinkSync('/usr/bin/echo', join(root, 'other-name')));

  it.each<[binary: string, args: string[], rule: string]>([
    ['sh', ['-x'], 'arguments of sh: deny "-x"'],
    ['sh', ['-ex'], 'arguments of sh: deny "-x"'],
    ['sh', ['-c', 'a secret-argument'], 'arguments of sh: deny "* secret-argument"'],
    ['echo', ['a', 'b'], 'arguments of echo: allow'],
    ['/bin/echo', ['b'], 'arguments of echo: allow'],
    ['/usr/bin/echo', ['b'], 'arguments of echo: allow'],
    [join(root, 'other-name'), ['b'], 'arguments of echo: allow'],
    ['tar', ['cIf', 'id', 'x'], 'arguments of tar: deny "-I"'],
  ])('%s %j is refused', async (binary, args, rule) => {
    for (const sandbox of [false, true]) {
      const error = await rejection(processes(sandbox).spawn(binary, args));
      expect(error).toMatchObject({ code: 'BINARY_NOT_ALLOWED', rule });
      expect(String(error)).not.toContain('a secret-argument');
    }
  });

  it.each<[binary: string, args: string[]]>([
    ['sh', ['-c', ':']],
    ['echo', []],
    ['echo', ['a', 'ab']],
    ['cat', ['/dev/null']],
  ])('%s %j passes', async (binary, args) => {
    expect(await processes(false).spawn(binary, args)).toMatchObject({ exitCode: 0 });
  });

  it('a refusal is one event, which names the rule', async () => {
    const { events } = await call({ arguments: { sh: { deny: ['-c'] } } });
    expect(events).toEqual(['denied: arguments of sh: deny "-c"']);
  });
});

describe('safety.quotas.process_seconds', () => {
  it.each([[{}], [{ sandbox: true } satisfies ProcessPolicy]])(
    'under %j, a process is ended when they are used up, and the next is refused; each is one event',
    async (policy) => {
      const quotas = { personalityQuotas: { per_call: { process_seconds: 0.4 } } };
      const audit = new MemoryAuditSink();
      const registry = new DefaultToolRegistry({ personalityProcess: policy, audit, ...quotas });
      const codes: unknown[] = [];
      registry.register(
        makeTool(
          'run',
          async (_args, ctx) => {
            for (const program of ['sleep 60', ':']) {
              await ctx.scopedProcess?.spawn('sh', ['-c', program]).catch((error: unknown) => {
                codes.push(Reflect.get(Object(error), 'code'));
              });
            }
            return ok('done');
          },
          { capabilities: declares },
        ),
      );
      expect(await runOne(registry, 'run')).toEqual(ok('done'));
      expect(codes).toEqual(['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
      expect(audit.events.map(({ decision }) => decision)).toEqual(['allowed', 'denied']);
    },
  );
});
