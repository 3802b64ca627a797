import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { bundleScript } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { openCliHome } from '../fixtures/cli-home.js';
import { signIn } from './fixtures/open-inspector.js';

/** Only root can run a program as another user. */
const canBeAnother = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv');

/**
 * What the other user tries: it collects the answers, and everything it can read of the process and
 * its files.
 */
const ATTACK = `
  const { readFileSync, readdirSync } = require('node:fs');
  const { join } = require('node:path');
  const [pid, origin, folder] = process.argv.slice(1);
  const read = (path) => { try { return readFileSync(path, 'utf8'); } catch ({ code }) { return code; } };
  const tree = (path) => {
    let entries;
    try { entries = readdirSync(path, { withFileTypes: true }); } catch ({ code }) { return [[path, code]]; }
    return entries.flatMap((each) => each.isDirectory() ? tree(join(path, each.name)) : [[each.name, read(join(path, each.name))]]);
  };
  const ask = async (path, init) => {
    const response = await fetch(origin + path, init);
    return [response.status, await response.text()];
  };
  const json = { Origin: origin, 'Content-Type': 'application/json' };
  (async () => {
    const proc = Object.fromEntries(['cmdline', 'environ', 'mem', 'fd/1'].map((name) => [name, read('/proc/' + pid + '/' + name)]));
    console.log(JSON.stringify({
      user: process.getuid(), proc, files: tree(folder),
      answers: [
        await ask('/api/state'),
        await ask('/api/state', { headers: { Authorization: 'Bearer ' + 'x'.repeat(43) } }),
        await ask('/api/approvals', { method: 'POST', headers: json, body: '{}' }),
        await ask('/api/session', { method: 'POST', headers: json, body: JSON.stringify({ token: 'x'.repeat(43) }) }),
      ],
    }));
  })();
`;

it.runIf(canBeAnother)(
  'inspect gives nothing to another user of the machine, who finds neither its token nor its key',
  async () => {
    const bin = await bundleScript(new URL('../bin.ts', import.meta.url));
    const world = openCliHome({ '.ethos/personalities/coder/config.yaml': 'name: Coder\n' });
    const program = spawn(process.execPath, [bin, 'inspect', '--json'], { cwd: world.cwd });
    const ended = once(program, 'close');
    try {
      const [line] = await once(program.stdout.setEncoding('utf8'), 'data');
      const { url }: { url: string } = JSON.parse(line);
      const { origin, hash } = new URL(url);
      const ask = await signIn({ url, origin, stop: async () => 0 });
      const { stdout, stderr } = spawnSync(
        'setpriv',
        [
          ...['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '-e', ATTACK],
          ...[String(program.pid), origin, world.cwd],
        ],
        { cwd: '/', encoding: 'utf8', env: {} },
      );
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual({
        user: 65_534,
        proc: {
          cmdline: expect.stringContaining('inspect'),
          environ: 'EACCES',
          mem: 'EACCES',
          'fd/1': 'EACCES',
        },
        files: [[world.cwd, 'EACCES']],
        answers: Array.from({ length: 4 }, () => [401, '']),
      });
      expect(stdout).not.toContain(hash.replace('#token=', ''));
      // The key still works for its owner.
      expect((await ask('/api/state')).status).toBe(200);
    } finally {
      program.kill('SIGINT');
      await ended;
      world.remove();
    }
  },
);
