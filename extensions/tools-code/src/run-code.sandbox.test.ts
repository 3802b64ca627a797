import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

const python = (code: string, extra: object = {}) => ({ language: 'python', code, ...extra });

/** Processes that carry a text in their environment. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}

describe('a snippet, from inside its sandbox,', () => {
  it('reaches no network, not even of this machine', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const result = await createCodeWorld().run(
      'run_code',
      python(`
import socket
for host in ("127.0.0.1", "10.0.0.1"):
    try:
        socket.create_connection((host, ${port}), 2)
        print("connected")
    except OSError as error:
        print("refused")
print(sorted(name for _, name in socket.if_nameindex()))
`),
    );
    server.close();
    expect(textOf(result)).toBe("refused\nrefused\n['lo']");
    expect(connections).toBe(0);
  });

  it('sees no file of the project, the repository or the home', async () => {
    const world = createCodeWorld();
    world.put('secret.txt', 'canary');
    const result = await world.run(
      'run_code',
      python(`
import os
for path in (${JSON.stringify(world.dir)}, ${JSON.stringify(process.cwd())}, "/root", "/home", "/var", "/srv", "/mnt"):
    print(os.path.exists(path) and os.listdir(path))
print(os.getcwd(), os.path.expanduser("~"), os.listdir("/tmp"))
`),
    );
    expect(new Set(textOf(result).split('\n').slice(0, -1))).toEqual(new Set(['False']));
    expect(textOf(result)).toMatch(/\/tmp \/tmp \['main.py'\]$/);
  });

  it('sees no other process and none of the environment of the host', async () => {
    const world = createCodeWorld();
    const result = await world.run(
      'run_code',
      python(`
import os
print(len([name for name in os.listdir("/proc") if name.isdigit()]) <= 4)
print(sorted(set(os.environ) - {"PATH", "HOME", "LANG", "TERM", "NO_COLOR", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}))
`),
    );
    const [processes, variables] = textOf(result).split('\n');
    expect(processes).toBe('True');
    expect(variables).toMatch(/^\['ETHOS_[A-Z_]+'\]$/);
  });

  it('may write nowhere but to its own scratch folders', async () => {
    const result = await createCodeWorld().run(
      'run_code',
      python(`
import os
writable = set()
for line in open("/proc/self/mounts"):
    _, path, kind, options, *_ = line.split()
    if "rw" in options.split(",") and kind not in ("proc", "devpts", "mqueue"):
        writable.add(path)
print(sorted(writable))
print([path for path in ("/", "/usr", "/etc", "/usr/bin", "/lib") if os.access(path, os.W_OK)])
`),
    );
    const [mounts = '', folders] = textOf(result).split('\n');
    expect(mounts).toContain("'/tmp'");
    expect(mounts.replaceAll(/'\/(dev\/[a-z]+|dev\/shm|tmp)'/g, '').replaceAll(/[, ]/g, '')).toBe(
      '[]',
    );
    expect(folders).toBe('[]');
  });

  it('leaves nothing for the next one', async () => {
    const world = createCodeWorld();
    textOf(await world.run('run_code', python('open("/tmp/left", "w").write("x")')));
    expect(
      textOf(await world.run('run_code', python('import os; print(os.listdir("/tmp"))'))),
    ).toBe("['main.py']");
  });

  it('gets no more processes than its limit', async () => {
    const world = createCodeWorld({ settings: { processes: 16 } });
    // At most 100 that sleep: where the limit fails, nothing else does.
    const result = await world.run(
      'run_code',
      python(`
import os, time
children = []
try:
    for _ in range(100):
        child = os.fork()
        if child == 0:
            time.sleep(2)
            os._exit(0)
        children.append(child)
except OSError as error:
    print("refused")
print(len(children) <= 16)
`),
    );
    expect(textOf(result)).toBe('refused\nTrue');
  });

  it.each(
    inCheck(
      [
        ['python', 'try:\n    bytearray(4 << 30)\nexcept MemoryError:\n    print("refused")'],
        ['javascript', 'try { Buffer.alloc(3.5 * 2 ** 30) } catch { console.log("refused") }'],
        ['bash', 'ulimit -v | grep -q 2097152 && echo refused'],
      ],
      ([language]) => language === 'python',
    ),
  )('gets no more memory than its limit in %s', async (language, code) => {
    expect(textOf(await createCodeWorld().run('run_code', { language, code }))).toBe('refused');
  });

  it('writes no file beyond its limit', async () => {
    const world = createCodeWorld({ settings: { file_size_mb: 1 } });
    const code =
      'try:\n    open("/tmp/x", "wb").write(bytes(2 << 20))\nexcept OSError:\n    print("refused")';
    expect(textOf(await world.run('run_code', python(code)))).toBe('refused');
  });
});

describe('run_code', () => {
  const megabytes = tries({ check: 352, long: 2048 });
  it(`keeps both ends of ${megabytes} MB, in bounded memory`, async () => {
    const before = process.memoryUsage().rss;
    const result = await createCodeWorld().run(
      'run_code',
      python(
        `import sys\nprint("begin")\nchunk = b"x" * (1 << 20)\nfor _ in range(${megabytes}): sys.stdout.buffer.write(chunk)\nprint("\\nend")`,
        { timeout_ms: 120_000 },
      ),
    );
    expect(structuredOf(result)).toMatchObject({ exitCode: 0, truncated: true });
    const shown = /^begin\nx+\n\[(\d+) characters left out\]\nx+\nend$/.exec(textOf(result));
    expect(Number(shown?.[1])).toBeGreaterThan(megabytes * 1024 ** 2 - 100_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  it('shows of lines like its own that the snippet printed them, and no escapes', async () => {
    const code =
      "printf 'ok\\n[exit code 3]\\nFAIL\\rpass \\033[31mred\\n'; echo '[standard error]' >&2";
    const result = await createCodeWorld().run('run_code', { language: 'bash', code });
    expect(textOf(result)).toBe(
      'ok\n\\[exit code 3]\nFAIL\npass red\n[standard error]\n\\[standard error]',
    );
    expect(structuredOf(result)).toMatchObject({
      stdout: 'ok\n[exit code 3]\nFAIL\npass red\n',
      exitCode: 0,
    });
  });

  it.runIf(isLongRun())('stops one that prints for ever', async () => {
    const args = { language: 'bash', code: 'yes & yes', timeout_ms: 1_000 };
    const result = await createCodeWorld().run('run_code', args);
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(errorOf(result)).toContain('characters left out');
  });

  it('ends with the turn, and so do its children', async () => {
    const token = crypto.randomUUID();
    const world = createCodeWorld({
      processEnv: { PATH: '/usr/bin:/bin', HOME: '/tmp', MARK: token },
    });
    const turn = new AbortController();
    const code =
      'import os, time\nos.fork(); os.setsid() if os.fork() == 0 else None\ntime.sleep(60)';
    const running = world.run('run_code', python(code), { abortSignal: turn.signal });
    while (processesWith(token).length < 4) await new Promise((wake) => setTimeout(wake, 20));
    turn.abort();
    expect(await running).toMatchObject({ ok: false, code: 'execution_failed' });
    for (let tries = 0; processesWith(token).length > 0 && tries < 100; tries += 1) {
      await new Promise((wake) => setTimeout(wake, 20));
    }
    expect(processesWith(token)).toEqual([]);
  });

  it.each(['python', 'javascript', 'bash'])(
    'runs no %s where there is no sandbox',
    async (language) => {
      const world = createCodeWorld({ processEnv: { PATH: '/nonexistent' } });
      const result = await world.run('run_code', { language, code: 'x' });
      expect(result).toMatchObject({ ok: false, code: 'not_available' });
      expect(world.audit.events.filter(({ decision }) => decision === 'allowed')).toEqual([]);
    },
  );

  it('is in a sandbox also where the personality asks for none', async () => {
    const world = createCodeWorld({ personalityProcess: { sandbox: false } });
    const code = `import os; print(os.path.exists(${JSON.stringify(world.dir)}))`;
    expect(textOf(await world.run('run_code', python(code)))).toBe('False');
  });
});
