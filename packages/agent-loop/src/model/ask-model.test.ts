import { jsonSchema, type LanguageModel, type ModelMessage, streamText } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Asked, StreamPart } from '../fixtures/scripted-model.js';
import { askModel, type ModelRequest } from './ask-model.js';
import type { PromptMessage } from './provider-prompt.js';

const IMAGE = { data: 'aGVsbG8=', mediaType: 'image/png' };
const providerOptions = { scripted: { signature: 'sig' } };
const MESSAGES: PromptMessage[] = [
  { role: 'user', content: 'Look.' },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', providerOptions },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: [1] } },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: {} },
    ],
    providerOptions,
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'look',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'seen' },
            { type: 'image-data', ...IMAGE },
          ],
        },
      },
      {
        type: 'tool-result',
        toolCallId: 'c2',
        toolName: 'look',
        output: { type: 'error-text', value: 'nothing there' },
      },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'text', text: '' },
      { type: 'text', text: 'And this?' },
      { type: 'file', ...IMAGE },
    ],
    providerOptions,
  },
];
const DEFINITION = {
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { at: { type: 'array' } } },
};
const SETTINGS = {
  temperature: 0.5,
  topP: 0.9,
  maxOutputTokens: 100,
  seed: 7,
  headers: { 'x-own': 'a' },
  providerOptions: { scripted: { effort: 'low' } },
};
const DONE: StreamPart[] = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'done' },
  { type: 'text-end', id: 't' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 10, noCache: 5, cacheRead: 3, cacheWrite: 2 },
      outputTokens: { total: 4, text: 4, reasoning: 0 },
    },
  },
];

/** A model of any version of the interface, and what it was asked. */
function modelOf(version: unknown, parts: readonly object[] = DONE) {
  const asked: Asked[] = [];
  const model = {
    specificationVersion: version,
    provider: 'scripted',
    modelId: 'any',
    supportedUrls: {},
    doStream: async (request: Asked) => {
      asked.push(request);
      return { stream: ReadableStream.from(parts) };
    },
  };
  const given: unknown = model;
  return { model: given as LanguageModel, asked };
}

function ask(model: LanguageModel, rest: Partial<ModelRequest> = {}) {
  const request: ModelRequest = {
    model,
    system: 'Be kind.',
    messages: MESSAGES,
    definitions: [DEFINITION],
    settings: SETTINGS,
    signal: new AbortController().signal,
    idleMs: 300_000,
    now: Date.now,
    ...rest,
  };
  return askModel(request, { word: async () => {}, source: () => {} });
}

/** The same request by the AI SDK. */
async function askBySdk(toolChoice: 'auto' | 'none'): Promise<Asked> {
  const asked: Asked[] = [];
  const model = new MockLanguageModelV3({
    doStream: async (request) => {
      asked.push(request);
      return { stream: ReadableStream.from(DONE) };
    },
  });
  const messages = MESSAGES.map((message): unknown => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((part) =>
      part.type === 'file' ? { type: 'image', image: part.data, mediaType: part.mediaType } : part,
    );
    return { ...message, content };
  }) as ModelMessage[];
  const { name, description, parameters } = DEFINITION;
  const { providerOptions, ...settings } = SETTINGS;
  const result = streamText({
    model,
    system: 'Be kind.',
    messages,
    tools: {
      [name]: {
        description,
        inputSchema: jsonSchema({ ...parameters } as Parameters<typeof jsonSchema>[0]),
      },
    },
    toolChoice,
    maxRetries: 0,
    ...settings,
    providerOptions,
  });
  await result.consumeStream();
  return asked[0] ?? expect.fail('the model was not asked');
}

/** Without what is `undefined`, and without what the AI SDK says of itself. */
function plain({ abortSignal, includeRawChunks, headers, ...request }: Asked): unknown {
  const { 'user-agent': _, ...own } = headers ?? {};
  return JSON.parse(JSON.stringify({ ...request, headers: own }));
}

describe('askModel', () => {
  it.each([
    [false, 'auto'],
    [true, 'none'],
  ] as const)('asks as the AI SDK does; without calls: %s', async (isWithoutCalls, toolChoice) => {
    const { model, asked } = modelOf('v3');
    await ask(model, { isWithoutCalls });
    const [request] = asked;
    expect(request && plain(request)).toEqual(plain(await askBySdk(toolChoice)));
    expect(request?.abortSignal?.aborted).toBe(true);
  });

  it('asks without tools and without a system prompt where there are none', async () => {
    const { model, asked } = modelOf('v3');
    await ask(model, { definitions: [], system: '', settings: {}, isWithoutCalls: true });
    expect(asked[0]).not.toHaveProperty('tools');
    expect(asked[0]).not.toHaveProperty('toolChoice');
    expect(asked[0]?.prompt.map(({ role }) => role)).not.toContain('system');
  });

  it('lets no setting replace what the loop asks', async () => {
    const { model, asked } = modelOf('v3');
    const settings = { ...SETTINGS, prompt: [], tools: [], abortSignal: undefined };
    await ask(model, { settings });
    const [request] = asked;
    expect(request?.prompt).toHaveLength(5);
    expect(request?.tools).toHaveLength(1);
    expect(request?.abortSignal?.aborted).toBe(true);
  });

  it.each([
    ['v2', { type: 'media', ...IMAGE }, { type: 'file', ...IMAGE }],
    ['v3', { type: 'image-data', ...IMAGE }, { type: 'file', ...IMAGE }],
    ...[{ type: 'file', mediaType: IMAGE.mediaType, data: { type: 'data', data: IMAGE.data } }].map(
      (file) => ['v4', file, file] as const,
    ),
  ] as const)('says images as version %s of the interface does', async (version, result, file) => {
    const { model, asked } = modelOf(version);
    await ask(model);
    const text = JSON.stringify(asked[0]?.prompt);
    expect(JSON.parse(text)).toMatchObject([
      {},
      {},
      {},
      { content: [{ output: { value: [{ type: 'text', text: 'seen' }, result] } }, {}] },
      { content: [{ type: 'text', text: 'And this?' }, file] },
    ]);
  });

  const usage = { inputTokens: 10, cacheReadTokens: 3, outputTokens: 4 };
  it.each([
    ['v2', 'stop', { inputTokens: 10, cachedInputTokens: 3, outputTokens: 4, totalTokens: 14 }],
    [
      'v3',
      { unified: 'stop', raw: 'end' },
      DONE.flatMap((part) => ('usage' in part ? part.usage : []))[0],
    ],
  ])('reads the last part of version %s', async (version, finishReason, own) => {
    const parts = [...DONE.slice(0, -1), { type: 'finish', finishReason, usage: own }];
    const answer = await ask(modelOf(version, parts).model);
    expect(answer).toMatchObject({ finish: 'stop', usage, chars: 4, hasSources: false });
  });

  it.each([
    ['v2', 'unknown', { inputTokens: undefined, outputTokens: undefined }],
    ['v3', { unified: 'other', raw: undefined }, { inputTokens: {}, outputTokens: {} }],
    ['v4', { unified: 'other', raw: undefined }, undefined],
  ])(
    'takes an end that a provider of version %s invents for one that is missing',
    async (version, finishReason, own) => {
      const parts = [...DONE.slice(0, -1), { type: 'finish', finishReason, usage: own }];
      await expect(ask(modelOf(version, parts).model)).rejects.toThrow('the answer broke off');
    },
  );

  it.each(['v1', 'v5', undefined])('refuses a model of version %s', async (version) => {
    const { model, asked } = modelOf(version);
    await expect(ask(model)).rejects.toMatchObject({ isRetryable: false });
    await expect(ask(model)).rejects.toThrow(`version ${version} of the AI SDK's interface`);
    expect(asked).toEqual([]);
  });

  it('gives up a model that does not even begin to answer', async () => {
    const model = Object.assign(modelOf('v3').model, { doStream: () => new Promise(() => {}) });
    await expect(ask(model, { idleMs: 5 })).rejects.toThrow('the model was silent for 0 s');
  });

  it('ends the answer of a model that begins when nobody waits any more', async () => {
    const controller = new AbortController();
    let begin: (answer: object) => void = () => {};
    const doStream = () => {
      controller.abort(new Error('no longer'));
      return new Promise<object>((resolve) => {
        begin = resolve;
      });
    };
    const model = Object.assign(modelOf('v3').model, { doStream });
    await expect(ask(model, { signal: controller.signal })).rejects.toThrow('no longer');
    await new Promise((cancel) => begin({ stream: new ReadableStream({ cancel }) }));
  });

  describe('a model that is named', () => {
    afterEach(() => {
      vi.unstubAllEnvs();
      Reflect.deleteProperty(globalThis, 'AI_SDK_DEFAULT_PROVIDER');
    });

    it('is that of the default provider', async () => {
      const { model, asked } = modelOf('v3');
      const provider: unknown = {
        languageModel: (id: string) => (id === 'lab/any' ? model : undefined),
      };
      globalThis.AI_SDK_DEFAULT_PROVIDER = provider as typeof globalThis.AI_SDK_DEFAULT_PROVIDER;
      await ask('lab/any');
      expect(asked).toHaveLength(1);
    });

    it('is that of the gateway of the AI SDK where there is none', async () => {
      // With a key, it would be asked over the network.
      for (const name of ['AI_GATEWAY_API_KEY', 'VERCEL_OIDC_TOKEN']) vi.stubEnv(name, '');
      await expect(ask('lab/any')).rejects.toThrow(/gateway/i);
    });
  });

  it('says of arguments that are nested too deep that they are', async () => {
    const input = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input };
    const { parts } = await ask(modelOf('v3', [call, ...DONE]).model);
    expect(parts[0]).toMatchObject({ call: { unreadable: 'they are nested too deep' } });
  });

  it.each([
    ['{"__proto__":{"a":1}}', 'the key __proto__ is not allowed'],
    ['{"a":[{"\\u005f_proto__":1}]}', 'the key __proto__ is not allowed'],
    ['{"constructor":{"prototype":{"a":1}}}', 'the key constructor is not allowed'],
    ['{"a":', 'JSON'],
    ['{"constructor":"x","prototype":1}', undefined],
    [' ', undefined],
  ])('reads the arguments %s', async (input, unreadable) => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input };
    const { parts } = await ask(modelOf('v3', [call, ...DONE]).model);
    const [first] = parts;
    const found = first?.type === 'call' ? first.call.unreadable : 'no call';
    if (unreadable === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(unreadable);
  });
});
