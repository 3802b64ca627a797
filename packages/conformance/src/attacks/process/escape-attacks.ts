import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreateCall } from './attacked-call.js';
import { SandboxWorld } from './sandbox-world.js';

/** Shell programs that print what they could read. `$1` is the world, `$2` the host's home. */
const READS: Array<[name: string, program: string]> = [
  ['a file outside, by its path', 'cat "$1/outside/secret"'],
  [
    'a file outside, by ..',
    'cd "$1/write/open" && cat ../../outside/secret "$1/read/../outside/secret"',
  ],
  ['a file outside, by an absolute link in the reach', 'cat "$1/write/open/link/secret"'],
  ['a file outside, by a relative link in the reach', 'cat "$1/write/open/relative/secret"'],
  [
    'a file outside, by a link of its own',
    'ln -sf "$1/outside" "$1/write/open/own"; cat "$1/write/open/own/secret"',
  ],
  [
    'a file outside, by a hard link of its own',
    'ln "$1/outside/secret" "$1/write/open/hard"; cat "$1/write/open/hard"',
  ],
  [
    'a file outside, by the roots of all processes',
    'for p in /proc/[0-9]* /proc/self /proc/thread-self; do cat "$p/root$1/outside/secret" "$p/cwd$1/outside/secret" "$p/cwd/../outside/secret"; done',
  ],
  [
    'a file outside, by the descriptors of all processes',
    'for f in /proc/[0-9]*/fd/*; do cat "$f/secret" "$f/outside/secret" "$f/../outside/secret" "$f$1/outside/secret"; done',
  ],
  ['a file outside, by a root of its own', 'chroot /proc/1/root cat "$1/outside/secret"'],
  [
    'a file outside, in a namespace of its own',
    'unshare -Urm sh -c \'mount --bind / /mnt; cat "$1/outside/secret"\' sh "$1"',
  ],
  ['a file outside, in the namespace of another', 'nsenter -t 1 -a cat "$1/outside/secret"'],
  ['a disk', 'find /dev -type b'],
  ['the deny floor, by its path', 'cat "$1/write/deep/floor/secret"; ls -A "$1/write/deep/floor"'],
  [
    'the deny floor, in a copy of all',
    'to=$(mktemp -d); cp -r "$1/write" "$1/read" "$to"; find "$to" -name secret -exec cat {} +',
  ],
  [
    'the deny floor, when its folder was renamed',
    'mv "$1/write/deep" "$1/write/open/moved"; cat "$1/write/open/moved/floor/secret"',
  ],
  [
    'the deny floor, by a link of its own',
    'ln -s ../deep/floor "$1/write/open/floor"; cat "$1/write/open/floor/secret"',
  ],
  [
    'the deny floor, when it was unmounted',
    'umount "$1/write/deep/floor"; umount "$1/write"; cat "$1/write/deep/floor/secret"',
  ],
  ['the home of its host', 'test "$2" = /tmp || ls -A "$2"'],
  ['other homes', 'ls -A /root /home'],
  ['the password hashes', 'cat /etc/shadow /etc/gshadow /etc/sudoers'],
  ['other folders of the machine', 'ls -A /var/lib /var/log /opt /srv /mnt /media /run /boot /sys'],
  ['the memory of the machine', 'head -c 1 /proc/kcore; head -c 1 /dev/mem; head -c 1 /dev/kmsg'],
  [
    'processes of its host',
    `kill -0 ${process.pid} && echo alive; cat /proc/${process.pid}/cmdline; test "$(ls -d /proc/[0-9]* | wc -l)" -lt 10 || ls -d /proc/[0-9]*`,
  ],
  ['a terminal', 'echo x > /dev/tty && echo terminal'],
  [
    'capabilities',
    'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | grep -v 0000000000000000',
  ],
  [
    'settings of the kernel that it may write',
    'for f in $(find /proc/sys /proc/sysrq-trigger -type f) /proc/self/oom_score_adj; do test -w "$f" && echo "$f"; done',
  ],
  [
    'folders of the system that it may write',
    'for d in / /usr /usr/bin /bin /etc /dev /proc /var; do test -w "$d" && echo "$d"; done',
  ],
  ['a namespace in which it is root', 'unshare -Ur id -u; unshare -m echo mounted'],
];

/** Shell programs that try to change what they must not. */
const WRITES: Array<[name: string, program: string]> = [
  ['a file of a read root', 'echo x > "$1/read/file"'],
  [
    'a new file of a read root',
    'echo x > "$1/read/new"; mkdir "$1/read/folder"; ln -s x "$1/read/link"',
  ],
  ['a read root, by removing', 'rm -rf "$1/read/file" "$1/read"'],
  ['a read root, by renaming', 'mv "$1/read/file" "$1/write/open/"; mv "$1/read" "$1/write/open/"'],
  [
    'a read root, by another name of it',
    'for p in /proc/1/root /proc/self/root; do echo x > "$p$1/read/file"; done; cd "$1/read" && echo x > /proc/self/cwd/file',
  ],
  [
    'a read root, by mounting it again',
    'mount -o remount,bind,rw "$1/read"; echo x > "$1/read/file"',
  ],
  [
    'a read root, in a namespace of its own',
    'unshare -Urm sh -c \'mount -o remount,bind,rw "$1/read"; umount "$1/read"; echo x > "$1/read/file"\' sh "$1"',
  ],
  [
    'a folder outside',
    'mkdir -p "$1/outside"; echo x > "$1/outside/new"; echo x > "$1/outside/secret"',
  ],
  [
    'a folder outside, by a link',
    'echo x > "$1/write/open/link/new"; echo x > "$1/write/open/relative/new"',
  ],
  [
    'a folder outside, by a root of another',
    'echo x > "/proc/1/root$1/outside/new"; echo x > "/proc/1/cwd/../outside/new"',
  ],
  [
    'the deny floor',
    'mkdir -p "$1/write/deep/floor"; echo x > "$1/write/deep/floor/secret"; echo x > "$1/write/deep/floor/new"',
  ],
  [
    'the deny floor where it is not there yet',
    'echo x > "$1/write/missing"; mkdir "$1/write/missing"; ln -s ../outside "$1/write/missing"',
  ],
  ['the deny floor, by removing its folder', 'rm -rf "$1/write/deep"; mv "$1/write" "$1/gone"'],
];

/** One program that runs several, one after another. */
function allOf(programs: ReadonlyArray<[name: string, program: string]>): string {
  return programs.map(([, program]) => `(${program}\n)`).join('\n');
}

/** Attacks in which a sandboxed process tries to leave its sandbox. */
export function escapeAttacks(create: CreateCall): void {
  const world = new SandboxWorld();
  const run = (program: string, ...args: string[]) =>
    create(world.reach).process.spawn(
      'sh',
      ['-c', `exec 2>/dev/null; ${program}`, 'sh', world.root, homedir(), ...args],
      { timeout: 120_000, cwd: join(world.root, 'read') },
    );

  // Without a working sandbox, some of these attacks would damage this machine.
  beforeAll(async () => {
    const { stdout } = await run('cat "$1/outside/secret"; ls -d /proc/[0-9]*');
    if (stdout.includes(world.secret) || stdout.split('\n').length > 9) {
      throw new Error('this is no sandbox; nothing more is tried');
    }
  });

  describe('can not read', () => {
    it('anything, when one process tries it all', async () => {
      const result = await run(allOf(READS));
      expect(result).not.toHaveProperty('timedOut');
      expect(result.stdout).toBe('');
      expect(world.damage()).toEqual([]);
    });

    it.runIf(isLongRun()).each(READS)('%s', async (_name, program) => {
      const result = await run(program);
      expect(result).not.toHaveProperty('timedOut');
      expect(result.stdout).toBe('');
      expect(world.damage()).toEqual([]);
    });
  });

  describe('can not write', () => {
    it('anything, when one process tries it all', async () => {
      expect(await run(allOf(WRITES))).not.toHaveProperty('timedOut');
      expect(world.damage()).toEqual([]);
    });

    it.runIf(isLongRun()).each(WRITES)('%s', async (_name, program) => {
      expect(await run(program)).not.toHaveProperty('timedOut');
      expect(world.damage()).toEqual([]);
    });

    it('anything that is left when it has ended', async () => {
      const name = `leftover-${randomUUID()}`;
      const places = ['/tmp', '/dev/shm', tmpdir()];
      const program = 'for d in /tmp /dev/shm; do echo x > "$d/$3"; cat "$d/$3"; done';
      expect((await run(program, name)).stdout).toBe('x\nx\n');
      expect(places.filter((place) => existsSync(join(place, name)))).toEqual([]);
      expect((await run('cat "/tmp/$3" "/dev/shm/$3"', name)).stdout).toBe('');
    });
  });

  describe('can not connect to', () => {
    let connections = 0;
    const servers: Server[] = [];
    const abstractName = `\0${randomUUID()}`;
    const addresses: object[] = [];
    const listen = (...to: Array<{ host: string; port: 0 } | { path: string }>) =>
      Promise.all(
        to.map(
          (where) =>
            new Promise<void>((listening) => {
              const server = createServer((socket) => {
                connections += 1;
                socket.end('x');
              });
              servers.push(server.listen(where, listening));
            }),
        ),
      );
    beforeAll(async () => {
      const path = join(world.root, 'outside/socket');
      await listen({ host: '127.0.0.1', port: 0 }, { path: abstractName }, { path });
      const address = servers[0]?.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      addresses.push({ host: '127.0.0.1', port }, { host: '::1', port }, { host: '0.0.0.0', port });
      addresses.push({ host: '::ffff:127.0.0.1', port }, { path: abstractName }, { path });
    });
    afterAll(() => {
      for (const server of servers) server.close();
    });

    it('the loopback of its host, by any name, nor by a socket outside its reach', async () => {
      const tries = `for (const to of ${JSON.stringify(addresses)})
        require('node:net').connect(to).on('connect', () => console.log(to)).on('error', () => {});`;
      const { process: sandboxed } = create(world.reach);
      const result = await sandboxed.spawn(process.execPath, ['-e', tries], { timeout: 20_000 });
      expect(result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      expect(connections).toBe(0);
    });

    it('any other machine: it has no interface but a loopback of its own', async () => {
      const names = 'console.log(Object.keys(require("node:os").networkInterfaces()).join())';
      const { process: sandboxed } = create(world.reach);
      const { stdout } = await sandboxed.spawn(process.execPath, ['-e', names]);
      expect(stdout).toBe('lo\n');
    });
  });
}
