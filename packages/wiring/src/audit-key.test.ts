import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { JsonlAuditSink, verifyAuditLog } from '@ethosagent/audit';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createToolRuntime } from './tool-runtime.js';
import { verifyRuntimeAudit } from './verify-runtime-audit.js';

const counts = defineTool({
  name: 'counts',
  description: 'Counts.',
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  input: z.object({}),
  async execute(_args, { kvStore }) {
    await kvStore.set('n', '1');
    return ok('counted');
  },
});

function home(): string {
  const folder = createTestFolder('audit-key');
  onTestFinished(folder.remove);
  const config = join(folder.dir, 'personalities', 'p', 'config.yaml');
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, 'name: P\ntoolset: [counts]\n');
  return folder.dir;
}

async function start(at: string) {
  const runtime = await createToolRuntime({ home: at, cwd: at, personality: 'p', tools: [counts] });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function use(at: string, calls = 1): Promise<void> {
  const runtime = await start(at);
  for (let n = 0; n < calls; n += 1) {
    const [answer] = await runtime.execute([{ toolCallId: `${n}`, name: 'counts', args: {} }]);
    expect(answer?.result).toEqual(ok('counted'));
  }
  await runtime.close();
}

const keyOf = (at: string) => join(at, 'secrets', '~audit-log.key');
const logOf = (at: string) => join(at, 'audit', 'audit.jsonl');
const oldEvent = {
  time: '2026-01-01T00:00:00.000Z',
  sessionId: 's',
  toolCallId: '1',
  toolName: 't',
  capability: 'storage',
  operation: 'get',
  target: 'k',
  decision: 'allowed',
  reason: 'old',
} as const;

function oldLog(at: string, lines: number): void {
  const sink = new JsonlAuditSink({ path: logOf(at) });
  for (let n = 0; n < lines; n += 1) sink.record(oldEvent);
  sink.close();
}

describe('the key of the audit log', () => {
  it('is made with the secrets, for the owner alone, and every line is under it', async () => {
    const at = home();
    await use(at);
    expect(statSync(keyOf(at)).mode & 0o777).toBe(0o600);
    expect(await verifyRuntimeAudit(at)).toMatchObject({ ok: true, cannotTell: [] });
    await expect(verifyAuditLog({ path: logOf(at) })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    const key = readFileSync(keyOf(at), 'utf8');
    await use(at);
    expect(readFileSync(keyOf(at), 'utf8')).toBe(key);
    expect((await (await start(at)).problems()).filter(({ key }) => key === 'audit')).toEqual([]);
  });

  it('is the same for runtimes that start at once', async () => {
    const at = home();
    const runtimes = await Promise.all(Array.from({ length: 5 }, () => start(at)));
    for (const runtime of runtimes) {
      await runtime.execute([{ toolCallId: '1', name: 'counts', args: {} }]);
    }
    await Promise.all(runtimes.map((runtime) => runtime.close()));
    expect(existsSync(join(at, 'audit', 'audit-5.jsonl'))).toBe(true);
    expect(await verifyRuntimeAudit(at)).toMatchObject({ ok: true, cannotTell: [] });
  });

  it.each<[string, (at: string) => void]>([
    ['a later beginning', (at) => changeHead(at, (head) => ({ ...head, oldest: 2 }))],
    [
      'an earlier end',
      (at) => {
        const lines = readFileSync(logOf(at), 'utf8').trimEnd().split('\n').slice(0, -1);
        writeFileSync(logOf(at), lines.map((line) => `${line}\n`).join(''));
        const { seq, hash } = JSON.parse(lines.at(-1) ?? '');
        changeHead(at, (head) => ({ ...head, seq, hash }));
      },
    ],
    [
      'a line behind the last',
      (at) => {
        const last = readFileSync(logOf(at), 'utf8').trimEnd().split('\n').at(-1) ?? '';
        const { seq } = JSON.parse(last);
        appendFileSync(logOf(at), `${last.replace(`"seq":${seq}`, `"seq":${seq + 1}`)}\n`);
      },
    ],
    [
      'a log of somebody else, without a key',
      (at) => {
        rmSync(join(at, 'audit'), { recursive: true });
        oldLog(at, 3);
      },
    ],
  ])('shows %s', async (_what, forge) => {
    const at = home();
    await use(at, 3);
    forge(at);
    expect(await verifyRuntimeAudit(at)).toMatchObject({ ok: false });
  });

  it('holds from the next line on in a log that was begun without one', async () => {
    const at = home();
    oldLog(at, 3);
    await use(at);
    await use(at);
    const report = await verifyRuntimeAudit(at);
    expect(report).toMatchObject({
      ok: true,
      cannotTell: [expect.stringMatching(/from line 4 on/)],
    });
    expect(report.events).toBeGreaterThan(3);
  });

  it('is not given to a log that came without one later: that is told, and left alone', async () => {
    const at = home();
    await use(at);
    rmSync(join(at, 'audit'), { recursive: true });
    oldLog(at, 3);
    const before = readFileSync(logOf(at), 'utf8');
    const runtime = await start(at);
    await runtime.execute([{ toolCallId: '1', name: 'counts', args: {} }]);
    expect(await runtime.problems()).toContainEqual(
      expect.objectContaining({ key: 'audit', message: expect.stringContaining(logOf(at)) }),
    );
    expect(readFileSync(logOf(at), 'utf8')).toBe(before);
    expect(existsSync(join(at, 'audit', 'audit-2.jsonl'))).toBe(true);
  });

  it('that can not be kept is told, and the log goes on without', async () => {
    const at = home();
    mkdirSync(join(at, 'secrets'));
    chmodSync(join(at, 'secrets'), 0o777);
    const runtime = await start(at);
    await runtime.execute([{ toolCallId: '1', name: 'counts', args: {} }]);
    expect(await runtime.problems()).toContainEqual(
      expect.objectContaining({
        key: 'audit',
        message: expect.stringMatching(/the key of the log can not be kept .*chmod 700/),
      }),
    );
    await runtime.close();
    expect((await verifyAuditLog({ path: logOf(at) })).cannotTell).toHaveLength(3);
  });

  it('that can not be used any more keeps a runtime from starting, and says why', async () => {
    const at = home();
    await use(at);
    chmodSync(keyOf(at), 0o644);
    await expect(start(at)).rejects.toThrow(/written with a key.*chmod 600/);
  });
});

function changeHead(at: string, change: (head: object) => object): void {
  const file = `${logOf(at)}.head`;
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))).padEnd(256));
}
