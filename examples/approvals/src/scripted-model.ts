import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

type Stream = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'];
type Part = Stream extends ReadableStream<infer P> ? P : never;

/** What the model says in one step: an answer, or calls by the name of the tool. */
export type Step = string | [tool: string, args: object][];

/** A model that says what it was told to say, in place of one that costs money. */
export function scriptedModel(...steps: Step[]): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doStream: async () => {
      const chunks = parts(steps.shift() ?? 'I have nothing more to say.', steps.length);
      return { stream: simulateReadableStream({ chunks, chunkDelayInMs: null }) };
    },
  });
}

function parts(step: Step, left: number): Part[] {
  const said: Part[] =
    typeof step === 'string'
      ? [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: step },
          { type: 'text-end', id: 't' },
        ]
      : step.map(([toolName, args], index) => ({
          type: 'tool-call',
          toolCallId: `call-${left}-${index}`,
          toolName,
          input: JSON.stringify(args),
        }));
  const unified = typeof step === 'string' ? 'stop' : 'tool-calls';
  return [
    ...said,
    {
      type: 'finish',
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 10, text: 10, reasoning: 0 },
      },
    },
  ];
}
