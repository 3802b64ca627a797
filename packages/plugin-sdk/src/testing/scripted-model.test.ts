import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { scriptedModel } from './scripted-model.js';

const tools = {
  add: tool({
    inputSchema: jsonSchema<{ a: number; b: number }>({ type: 'object' }),
    execute: async ({ a, b }) => `${a + b}`,
  }),
};
const ADD = [
  ['add', { a: 1, b: 2 }],
  ['add', { a: 3, b: 4 }, 'mine'],
] as const;
const run = { tools, prompt: 'Add.', stopWhen: stepCountIs(5) };

describe('scriptedModel', () => {
  it('says what its script says, and keeps what it was asked', async () => {
    const model = scriptedModel([ADD, 'Done.']);
    const { text, steps } = await generateText({ model, ...run });
    expect(text).toBe('Done.');
    expect(steps[0]?.toolResults.map(({ toolCallId, output }) => [toolCallId, output])).toEqual([
      ['call-1-1', '3'],
      ['mine', '7'],
    ]);
    expect(model.requests.map(({ prompt }) => prompt.length)).toEqual([1, 3]);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['add']);
  });

  it('streams the same', async () => {
    const stream = streamText({ model: scriptedModel([ADD, 'Done.']), ...run });
    expect(await stream.text).toBe('Done.');
    expect((await stream.totalUsage).outputTokens).toBe(20);
  });

  it('answers by what it was asked where its script is a function', async () => {
    const model = scriptedModel(({ prompt }, step) => `${step}: ${prompt.at(-1)?.role}`);
    expect((await generateText({ model, prompt: 'Hello.' })).text).toBe('0: user');
  });

  it('has nothing to say after its script, and nothing when it is aborted', async () => {
    const model = scriptedModel([]);
    expect((await generateText({ model, prompt: 'Hello.' })).text).toBe(
      'I have nothing more to say.',
    );
    const abortSignal = AbortSignal.abort();
    await expect(generateText({ model, prompt: 'Hello.', abortSignal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(model.requests).toHaveLength(1);
  });

  it('can write what is no JSON', async () => {
    const model = scriptedModel([[['add', '{"a":']], 'Done.']);
    const { steps } = await generateText({ model, ...run });
    expect(steps[0]?.content.at(-1)).toMatchObject({ type: 'tool-error' });
  });
});
