import { IMAGE_LIMITS } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { samplePng } from '@ethosagent/test-support';
import type { ImageScaler } from '@ethosagent/types';
import { APICallError } from 'ai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentLoopOptions } from './api.js';
import { scriptedModel } from './fixtures/scripted-model.js';
import { World } from './fixtures/world.js';
import { imagePlan, limitsOfModel } from './images.js';

const PICTURES = { small: samplePng(3, 2), wide: samplePng(9_000, 2) };
const base64 = (name: keyof typeof PICTURES) => PICTURES[name].toString('base64');

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.enum(['small', 'wide']) }),
  capabilities: {},
  outputIsUntrusted: true,
  execute: async ({ at }) =>
    ok(`a ${at} picture`, {
      structured: { images: [{ mediaType: 'image/gif', data: base64(at) }] },
    }),
});

const refusal = new APICallError({
  message: 'Could not process image',
  statusCode: 400,
  url: 'https://provider.example/',
  requestBodyValues: {},
});

let world: World;
beforeEach(() => {
  world = new World({ tools: [look] });
});
afterEach(() => world.close());

/** What the model gets of a call of `look`. */
async function shown(at: 'small' | 'wide', options: Partial<AgentLoopOptions> = {}) {
  const model = scriptedModel([{ calls: [{ name: 'look', args: { at } }] }, { text: 'Seen.' }], {
    provider: 'anthropic.messages',
  });
  await world.loop(model, options).ask({ sessionId: 's', prompt: 'Look' });
  const message = model.doStreamCalls[1]?.prompt.find(({ role }) => role === 'tool');
  const [part] = message?.role === 'tool' ? message.content : [];
  return part?.type === 'tool-result' ? part.output : undefined;
}

const marked = '<untrusted source="look" tool="look">\na small picture\n</untrusted>';
const stored = async () =>
  JSON.stringify((await world.sessions.messages('s', {})).map(({ text, data }) => [text, data]));

describe('an image of a result', () => {
  it('is before the model beside the marked text, and once in the session', async () => {
    const output = await shown('small');
    expect(output).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: marked },
        { type: 'image-data', mediaType: 'image/png', data: base64('small') },
      ],
    });
    expect((await stored()).split(base64('small'))).toHaveLength(2);
  });

  it('that is too large is left out, and the model is told outside the marking', async () => {
    const output = await shown('wide');
    expect(output).toMatchObject({ type: 'text' });
    expect(JSON.stringify(output)).toMatch(
      /<\/untrusted>\\n\[the image \(image\/png, 9000 × 2 pixels\) is left out: .*@ethosagent\/image-scaler/,
    );
    expect(await stored()).not.toContain(base64('wide'));
  });

  it('is made smaller by the scaler, and stored as it is then', async () => {
    const imageScaler: ImageScaler = { scale: async () => PICTURES.small };
    expect(await shown('wide', { imageScaler })).toMatchObject({
      value: [
        { text: expect.stringContaining('9000 × 2 pixels) is shown at 3 × 2]') },
        { data: base64('small') },
      ],
    });
    expect(await stored()).not.toContain(base64('wide'));
  });

  it('is a line of text for a model that takes none, also one that goes on with the session', async () => {
    expect(await shown('small')).toMatchObject({ type: 'content' });
    const blind = scriptedModel([{ text: 'Fine.' }]);
    await world.loop(blind).ask({ sessionId: 's', prompt: 'And?' });
    const prompt = JSON.stringify(blind.doStreamCalls[0]?.prompt);
    expect(prompt).toContain('[images of this result are left out: this model does not take them]');
    expect(prompt).not.toContain(base64('small'));
  });

  it('is not even stored where the host says that the model takes none', async () => {
    expect(await shown('small', { toolImages: false })).toEqual({
      type: 'text',
      value: `${marked}\n[the image (image/png, 3 × 2 pixels) is left out: this model takes no images in results of tools]`,
    });
    expect(await stored()).not.toContain(base64('small'));
  });

  it('that the provider refuses is left out from then on', async () => {
    let refused = 0;
    const model = scriptedModel(
      (step, { prompt }) => {
        if (step === 0) return { calls: [{ name: 'look', args: { at: 'small' } }] };
        if (!JSON.stringify(prompt).includes('image-data')) return { text: 'Fine.' };
        refused += 1;
        return { throws: refusal };
      },
      { provider: 'anthropic.messages' },
    );
    const loop = world.loop(model);
    expect(await loop.ask({ sessionId: 's', prompt: 'Look' })).toMatchObject({ text: 'Fine.' });
    // Another loop reads what the first one stored.
    await world.loop(model).ask({ sessionId: 's', prompt: 'And?' });
    expect(refused).toBe(1);
    const prompt = JSON.stringify(model.doStreamCalls.at(-1)?.prompt);
    expect(prompt).toContain("the model's provider refused the request with them]");
    expect(prompt).not.toContain(base64('small'));
  });

  it('is not left out where the provider refuses something else', async () => {
    const model = scriptedModel(
      [
        { calls: [{ name: 'look', args: { at: 'small' } }] },
        { text: 'Seen.' },
        { throws: refusal },
      ],
      { provider: 'anthropic.messages' },
    );
    const loop = world.loop(model);
    await loop.ask({ sessionId: 's', prompt: 'Look' });
    expect(await loop.ask({ sessionId: 's', prompt: 'And?' })).toMatchObject({ end: 'failed' });
    await loop.abandon('s');
    await loop.ask({ sessionId: 's', prompt: 'Go on' });
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).toContain(base64('small'));
  });

  it('comes with the taint of its result', async () => {
    const model = scriptedModel(
      [
        { calls: [{ name: 'look', args: { at: 'small' } }] },
        { calls: [{ name: 'write_note', args: { path: 'a.txt', text: 'x' } }] },
      ],
      { provider: 'anthropic.messages' },
    );
    const end = await world.loop(model).ask({ sessionId: 's', prompt: 'Look' });
    expect(end).toMatchObject({ end: 'paused' });
    expect(world.ran).toEqual([]);
  });
});

describe('limitsOfModel', () => {
  it.each([
    [{ provider: 'anthropic.messages' }, IMAGE_LIMITS.anthropic],
    [{ provider: 'amazon-bedrock', modelId: 'us.anthropic.claude-x' }, IMAGE_LIMITS.anthropic],
    [{ provider: 'amazon-bedrock', modelId: 'amazon.nova-pro-v1:0' }, IMAGE_LIMITS.common],
    [{ provider: 'amazon-bedrock', modelId: 'meta.llama3-70b' }, false],
    [{ provider: 'amazon-bedrock' }, false],
    [{ provider: 'vertex.anthropic.messages' }, IMAGE_LIMITS.anthropic],
    [{ provider: 'openai.responses' }, IMAGE_LIMITS.openai],
    [{ provider: 'azure.responses' }, IMAGE_LIMITS.openai],
    [{ provider: 'google.generative-ai' }, IMAGE_LIMITS.google],
    [{ provider: 'google.vertex.chat' }, IMAGE_LIMITS.google],
    [{ provider: 'openai.chat' }, false],
    [{ provider: 'my-server.chat' }, false],
    ['openai/gpt-5', false],
    [undefined, false],
  ])('%j', (model, limits) => {
    expect(limitsOfModel(model)).toEqual(limits);
  });

  it('is a default: the host says what holds', () => {
    const model = scriptedModel([]);
    expect(imagePlan({ model }).limits).toBe(false);
    expect(imagePlan({ model, toolImages: true }).limits).toEqual(IMAGE_LIMITS.common);
    expect(imagePlan({ model, toolImages: { maxImages: 1 } }).limits).toMatchObject({
      maxImages: 1,
    });
    expect(() => world.loop([], { toolImages: { maxImages: 0 } })).toThrow('CONFIG_INVALID');
  });
});
