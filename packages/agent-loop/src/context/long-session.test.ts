import { collectGarbage, isLongRun, runTimeoutMs, tries } from '@ethosagent/test-support';
import type { SessionStore } from '@ethosagent/types';
import type { LanguageModel } from 'ai';
import { afterEach, expect, it } from 'vitest';
import { AgentLoop } from '../agent-loop.js';
import { type Asked, scriptedModel } from '../fixtures/scripted-model.js';
import { World } from '../fixtures/world.js';
import { readLog } from '../journal/journal.js';
import { registryTools } from '../registry-tools.js';
import { counted, growsAtItsEnd, isForSummary, lookTool, tokensOf } from './fixtures/long-work.js';

const TURNS = tries({ check: 20, nightly: 400, long: 5_000 });
// Every text of the user stays in the prompt, so many turns need this much.
const WINDOW = tries({ check: 5_000, nightly: 60_000, long: 200_000 });
/**
 * The records of a turn: of the user, two steps, a start, a result, an end, and sometimes a
 * summary.
 */
const RECORDS = 7;
/** From this many records on, a log is kept. A page has as many. */
const PAGE = 1_000;

let world: World | undefined;
afterEach(() => world?.close());

it(
  `a session of ${TURNS} turns goes on in flat memory, and reads what is new`,
  async () => {
    world = new World({ tools: [lookTool()] });
    const { registry, personality, folder } = world;
    const sessions = counting(world.sessions);
    let largest = 0;
    let summaries = 0;
    let last: Asked | undefined;
    let isCompared = false;
    const model = forgetful((at: number, asked: Asked) => {
      largest = Math.max(largest, tokensOf(asked));
      if (isForSummary(asked)) {
        summaries += 1;
        // The next request is shorter, since it follows a summary.
        isCompared = false;
        return counted(asked, { text: `So far. ${'And so on. '.repeat(20)}` });
      }
      if (isCompared && last !== undefined) expect(growsAtItsEnd(last, asked)).toBe(true);
      isCompared = false;
      last = asked;
      const isNew = asked.prompt.at(-1)?.role === 'user';
      const call = { id: `c${at}`, name: 'look', args: { key: `${at}`, chars: 2_000 } };
      return counted(asked, isNew ? { calls: [call] } : { text: 'Done with it.' });
    });
    const newAgent = () =>
      new AgentLoop({
        model,
        tools: registryTools(registry, personality, { workingDir: folder }),
        sessions,
        context: { window: WINDOW },
      });
    const heap: number[] = [];
    const entries: number[] = [];
    let agent = newAgent();
    for (let turn = 1; turn <= TURNS; turn++) {
      sessions.read = 0;
      const { end } = await agent.ask({ sessionId: 's', prompt: `Number ${turn}.` });
      expect(end).toBe('answered');
      if (turn % (TURNS / 10) === 1) {
        // This process is new. It has read all records, and sends the same bytes.
        expect(sessions.read).toBeLessThanOrEqual(turn * RECORDS);
      } else {
        expect(sessions.read).toBeLessThan(PAGE);
      }
      if (turn % (TURNS / 10) !== 0) continue;
      const log = await readLog(world.sessions, 's');
      entries.push(JSON.stringify(log.entries).length);
      if (isLongRun()) {
        heap.push(heapWith(log));
        console.log(turn, entries.at(-1), heap.at(-1), largest, summaries);
      }
      agent = newAgent();
      isCompared = true;
    }
    expect(summaries).toBeGreaterThan(0);
    expect(largest).toBeLessThan(WINDOW);
    // However long a session is, the kept state stays bounded: as JSON, three times the prompt.
    for (const chars of entries) expect(chars / 4).toBeLessThan(WINDOW * 3);
    if (!isLongRun()) return;
    const [first = 0] = heap.slice(1, 2);
    expect(Math.max(...heap.slice(2))).toBeLessThan(first + 16_000_000);
  },
  runTimeoutMs(),
);

/** A store that counts how many messages were read. */
function counting(store: SessionStore): SessionStore & { read: number } {
  const counted = {
    ...store,
    read: 0,
    async messages(...args: Parameters<SessionStore['messages']>) {
      const page = await store.messages(...args);
      counted.read += page.length;
      return page;
    },
  };
  return counted;
}

/** The bytes of the heap in use while `kept` is in memory. */
function heapWith(kept: object): number {
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  return Object.keys(kept).length >= 0 ? heapUsed : 0;
}

/** A scripted model that does not keep its requests. */
function forgetful(script: Parameters<typeof scriptedModel>[0]): LanguageModel {
  const model = scriptedModel(script);
  const { doStream } = model;
  model.doStream = async (asked) => {
    const answer = await doStream.call(model, asked);
    model.doStreamCalls.length = 0;
    return answer;
  };
  return model;
}
