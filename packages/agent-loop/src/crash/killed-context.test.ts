import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import { isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answer } from '../sockets/fixtures/answers.js';
import type { ChatRequest } from '../sockets/fixtures/chat-request.js';
import { type ModelServer, startModelServer } from '../sockets/fixtures/model-server.js';
import { linesOf, startAct } from './fixtures/start-act.js';

const STEPS = 16;
const SUMMARY = 'Lines were written.';

/** Writes the next line, which it finds in the history. Sums up if it is asked to. */
function scripted({ messages }: ChatRequest) {
  const usage = { prompt_tokens: JSON.stringify(messages).length >> 2, completion_tokens: 20 };
  const last = JSON.stringify(messages.at(-1));
  if (last.includes('about to be made shorter')) return answer({ text: SUMMARY, usage });
  const made = messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
  const next = made.length === 0 ? 0 : Number(made.at(-1)?.slice(1)) + 1;
  if (next >= STEPS) return answer({ text: 'finished', usage });
  const args = { line: `${next} ${'x'.repeat(900)}` };
  return answer({ text: 'Next.', usage, calls: [{ id: `c${next}`, name: 'append', args }] });
}

let folder: string;
let server: ModelServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agent-context-'));
  server = await startModelServer(scripted);
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** The digests of the requests that the model got, without repetitions. */
const asked = (requests: readonly ChatRequest[]) => [
  ...new Set(
    requests.map(({ headers: _, at: __, ...body }) =>
      createHash('sha256').update(JSON.stringify(body)).digest('base64url'),
    ),
  ),
];

const act = async (more: object) =>
  linesOf(startAct({ folder, baseURL: server.baseURL, window: 4_000, ...more }));

/** The numbers of the appends that store a record of kind `context`, from 1. */
async function contextAppends(): Promise<number[]> {
  const store = createSqliteSessionStore({ path: join(folder, 'sessions.db') });
  try {
    const kinds = (await store.messages('s')).map(({ data }) => Object(data).kind);
    // A step is stored with the record after it.
    const appendOf = (at: number) =>
      kinds.slice(0, at).filter((kind) => kind !== 'step').length + 1;
    return kinds.flatMap((kind, at) => (kind === 'context' ? [appendOf(at)] : []));
  } finally {
    store.close();
  }
}

// A check has `long-session.test.ts`, whose agents go on where another one ended, in one process.
it.runIf(isLongRun())(
  'a process that is killed around the record of a context sends the same bytes when it goes on',
  async () => {
    const lines = await act({ prompt: 'Write.' });
    expect(lines.at(-1)).toMatchObject({ type: 'done', end: 'answered', text: 'finished' });
    const whole = asked(server.requests);
    const appends = await contextAppends();
    expect(appends.length).toBeGreaterThan(1);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain(SUMMARY);
    const moments = appends.flatMap((append) =>
      (['before', 'after'] as const).map((when) => ({ append, when })),
    );
    for (const killAtAppend of moments) {
      const home = folder;
      folder = mkdtempSync(join(tmpdir(), 'agent-context-'));
      const from = server.requests.length;
      await act({ prompt: 'Write.', killAtAppend });
      expect((await act({})).at(-1)).toMatchObject({ type: 'done', end: 'answered' });
      expect(asked(server.requests.slice(from))).toEqual(whole);
      rmSync(folder, { recursive: true });
      folder = home;
    }
    expect(server.problems).toEqual([]);
  },
);
