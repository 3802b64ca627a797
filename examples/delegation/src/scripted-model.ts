import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

/** Calls by the name of the tool (a `_` at the end is dropped), or an answer. */
type Step = string | Record<string, object>;
type Part =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer P>
    ? P
    : never;

/** Stands in for a model: it answers each agent by the task that the agent was given. */
export function scriptedModel(scripts: Record<string, readonly Step[]>) {
  const offered = new Map<string, string[]>();
  let calls = 0;
  const model = new MockLanguageModelV3({
    doStream: async ({ prompt, tools = [] }) => {
      const last = prompt.findLastIndex(({ role }) => role === 'user');
      const content = prompt[last]?.content ?? '';
      const task =
        typeof content === 'string'
          ? content
          : content.map((part) => ('text' in part ? part.text : '')).join('');
      offered.set(
        task,
        tools.map(({ name }) => name),
      );
      const at = prompt.slice(last).filter(({ role }) => role === 'assistant').length;
      const step = scripts[task]?.[at] ?? 'Done.';
      const parts: Part[] =
        typeof step === 'string'
          ? [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: step },
              { type: 'text-end', id: 't' },
            ]
          : Object.entries(step).map(([name, args]) => ({
              type: 'tool-call' as const,
              toolCallId: `call-${calls++}`,
              toolName: name.replace(/_$/, ''),
              input: JSON.stringify(args),
            }));
      const unified = typeof step === 'string' ? ('stop' as const) : ('tool-calls' as const);
      const usage = {
        inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 20, text: 20, reasoning: 0 },
      };
      const chunks: Part[] = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason: { unified, raw: unified }, usage },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
  return {
    model,
    /** The tools that the agent with a task was told of. */
    offered: (task: string) => [...(offered.get(task) ?? [])].sort(),
  };
}
