import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

type Call = [tool: string, args: object];
type Stream = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'];
type Part = Stream extends ReadableStream<infer P> ? P : never;

/** What a model could have said: each step is an answer, or calls. */
const CODER: (string | Call[])[] = [
  [
    ['search_files', { pattern: 'total' }],
    ['read_file', { path: 'src/total.js' }],
    ['run_tests', {}],
  ],
  [
    [
      'patch_file',
      { path: 'src/total.js', hunks: [{ search: 'sum - price', replace: 'sum + price' }] },
    ],
  ],
  [
    ['run_tests', {}],
    ['task', { prompt: 'Review src/total.js: does it add up?', personality: 'reviewer' }],
  ],
  [
    [
      'memory_write',
      {
        action: 'add',
        section: 'Mistakes',
        text: 'total() in src/total.js subtracted the prices.',
      },
    ],
  ],
  'total() subtracted where it should add. It adds now, the test passes, and a reviewer agrees.',
];
const REVIEWER: (string | Call[])[] = [
  [
    ['read_file', { path: 'src/total.js' }],
    ['read_file', { path: 'package.json' }],
  ],
  'It adds up: the sum starts at 0 and every price is added.',
];

/** Stands in for a model, so that the example runs anywhere. */
export function scriptedModel(): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doStream: async ({ prompt }) => {
      const script = JSON.stringify(prompt).includes('Review src/total.js: does it add up?"}')
        ? REVIEWER
        : CODER;
      const step = script[prompt.filter(({ role }) => role === 'assistant').length] ?? 'Done.';
      const content: Part[] =
        typeof step === 'string'
          ? [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: step },
              { type: 'text-end', id: 't' },
            ]
          : step.map(([toolName, args], at) => ({
              type: 'tool-call',
              toolCallId: `${prompt.length}-${at}`,
              toolName,
              input: JSON.stringify(args),
            }));
      const usage = {
        inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 20, text: 20, reasoning: 0 },
      };
      const unified = typeof step === 'string' ? 'stop' : 'tool-calls';
      const chunks: Part[] = [
        { type: 'stream-start', warnings: [] },
        ...content,
        { type: 'finish', finishReason: { unified, raw: unified }, usage },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}
