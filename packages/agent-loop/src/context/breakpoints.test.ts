import { once } from 'node:events';
import { createServer } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentLoopOptions } from '../api.js';
import { eventsOf, ofType, World } from '../fixtures/world.js';
import { cacheOf, withBreakpoints } from './breakpoints.js';
import { anthropicProblems, anthropicStream } from './fixtures/anthropic.js';

interface Body {
  system: { cache_control?: unknown }[];
  messages: { role: string; content: { cache_control?: unknown }[] }[];
  tools?: { name: string }[];
  context_management?: unknown;
}

let world: World;
let bodies: Body[];
let betas: string[];
let server: ReturnType<typeof createServer>;
let baseURL: string;

beforeEach(async () => {
  world = new World();
  bodies = [];
  betas = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    betas.push(String(request.headers['anthropic-beta'] ?? ''));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      anthropicStream({
        input_tokens: 10,
        cache_read_input_tokens: 700,
        cache_creation_input_tokens: 90,
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  baseURL = `http://127.0.0.1:${address.port}/v1`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  world.close();
});

const ask = (prompt: string, options: Partial<AgentLoopOptions> = {}) => {
  const model = createAnthropic({ baseURL, apiKey: 'test' })('claude-sonnet-4-5');
  return eventsOf(world.loop(model, options).run({ sessionId: 's', prompt }));
};
/** The indexes of messages whose last part has a breakpoint. */
const markedIn = ({ messages }: Body) =>
  messages.flatMap(({ content }, at) => (content.at(-1)?.cache_control ? [at] : []));

describe('on the wire to Anthropic', () => {
  it('the system prompt, what was sent before and the end have breakpoints', async () => {
    for (const prompt of ['One', 'Two', 'Three']) await ask(prompt);
    expect(bodies.map(({ system }) => system[0]?.cache_control)).toEqual(
      Array.from({ length: 3 }, () => ({ type: 'ephemeral' })),
    );
    expect(bodies.map(markedIn)).toEqual([[0], [0, 2], [2, 4]]);
    expect(bodies.flatMap(anthropicProblems)).toEqual([]);
  });

  it('there are none where the history is sent whole', async () => {
    await ask('One', { context: false });
    expect(JSON.stringify(bodies)).not.toContain('cache_control');
  });

  it('what was read from the cache and written to it is reported, and has its prices', async () => {
    const prices = { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 };
    const events = await ask('One', { prices });
    const [{ step } = { step: undefined }] = ofType(events, 'usage');
    expect(step).toMatchObject({
      inputTokens: 800,
      cachedInputTokens: 700,
      cacheWriteInputTokens: 90,
      outputTokens: 2,
    });
    const costUsd = (10 * 3 + 700 * 0.3 + 90 * 3.75 + 2 * 15) / 1_000_000;
    expect(step?.costUsd).toBeCloseTo(costUsd, 12);
  });

  it('native clearing and compaction are asked for, beside options of the host', async () => {
    const providerOptions = { anthropic: { disableParallelToolUse: true } };
    const context = { window: 100_000, native: ['clear', 'compact'] as const };
    await ask('One', { context, modelSettings: { providerOptions } });
    expect(bodies[0]?.context_management).toEqual({
      edits: [
        { type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 80_000 } },
        { type: 'compact_20260112', trigger: { type: 'input_tokens', value: 80_000 } },
      ],
    });
    expect(betas[0]).toMatch(/context-management/);
    expect(betas[0]).toMatch(/compact/);
  });
});

describe('cacheOf', () => {
  it.each([
    ['anthropic.messages', 'claude-x', 'anthropic'],
    ['vertex.anthropic.messages', 'claude-x', 'anthropic'],
    ['amazon-bedrock', 'us.anthropic.claude-x', 'bedrock'],
    ['amazon-bedrock', 'meta.llama3', undefined],
    ['openai.responses', 'gpt-5', undefined],
    ['anthropical', 'x', undefined],
  ])('of %s with %s is %s', (provider, modelId, expected) => {
    const model: AgentLoopOptions['model'] = Object({ provider, modelId });
    expect(cacheOf(model)).toBe(expected);
  });

  it('goes by the name at a gateway', () => {
    expect(cacheOf('anthropic/claude-sonnet-4.5')).toBe('anthropic');
    expect(cacheOf('openai/gpt-5')).toBe(undefined);
  });
});

describe('withBreakpoints', () => {
  it('leaves a prompt as it is for whoever takes none', () => {
    const prompt = { system: 's', messages: [{ role: 'user' as const, content: 'Hi' }] };
    expect(withBreakpoints(prompt, 'openai/gpt-5')).toEqual(prompt);
  });
});
