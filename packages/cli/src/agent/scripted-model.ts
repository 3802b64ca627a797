import { randomUUID } from 'node:crypto';
import type { LanguageModel } from 'ai';

type Model = Extract<LanguageModel, { specificationVersion: 'v3' }>;
type StreamOptions = Parameters<Model['doStream']>[0];
type StreamPart =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

/** What somebody reads who wrote to the scripted model as to a real one. */
export const NO_MODEL = `No model is configured, so I only run what you type: the name of a tool and its arguments, as in
  read_file {"path":"workspace/hello.txt"}
Name a model with --model provider/model or ETHOS_MODEL, and install its provider (npm install @ai-sdk/<provider>).`;

const USAGE = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** The call that a text is for the scripted model; `undefined` if it names none of the tools. */
export function callIn(
  text: string,
  tools: readonly { name: string }[],
): { toolName: string; input: string } | undefined {
  const [, toolName = '', input = '{}'] = /^\s*([\w-]+)\s*(\{.*\})?\s*$/s.exec(text) ?? [];
  return tools.some(({ name }) => name === toolName) ? { toolName, input } : undefined;
}

/**
 * A model for use without a real one. It calls the tool that the user's message names, with the
 * arguments after the name. It fails where the message is for a real model, so that the turn waits
 * for one.
 */
export function createScriptedModel(): Model {
  const answer = (options: StreamOptions): StreamPart[] => {
    const asked = options.prompt.findLast(({ role }) => role === 'user');
    const text = asked?.role === 'user' ? textOf(asked.content) : '';
    const last = options.prompt.at(-1);
    // A tool that was called may no longer be offered.
    const called = last?.role === 'tool' ? last.content.flatMap(nameIn) : [];
    const call = callIn(text, [...(options.tools ?? []), ...called]);
    // By this name the loop knows that asking again would not help.
    if (call === undefined)
      throw Object.assign(new Error(NO_MODEL), { name: 'AI_LoadSettingError' });
    if (last?.role === 'tool') return textParts('Done.');
    return [
      { type: 'tool-call', toolCallId: `call-${randomUUID()}`, ...call },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: USAGE },
    ];
  };
  return {
    specificationVersion: 'v3',
    provider: 'ethosagent',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: async () => {
      throw new TypeError('the scripted model streams only');
    },
    doStream: async (options) => {
      const parts = answer(options);
      return {
        stream: new ReadableStream<StreamPart>({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] });
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

function textParts(text: string): StreamPart[] {
  return [
    { type: 'text-start', id: 'text' },
    { type: 'text-delta', id: 'text', delta: text },
    { type: 'text-end', id: 'text' },
    { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: USAGE },
  ];
}

function nameIn(part: { type: string; toolName?: string }): { name: string }[] {
  return part.toolName === undefined ? [] : [{ name: part.toolName }];
}

function textOf(content: readonly { type: string }[]): string {
  return content
    .flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []))
    .join('');
}
