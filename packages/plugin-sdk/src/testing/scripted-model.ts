/**
 * The reply of the model in one step: a text, or calls of tools. A call without an id gets a
 * generated one. Arguments that are a string are passed unchanged, so that a test can give invalid
 * JSON.
 */
export type ScriptedStep =
  | string
  | readonly (readonly [tool: string, args: unknown, id?: string])[];

/** A request that the model received. */
export interface ScriptedRequest {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  /** The tools that the model may call. */
  readonly tools?: readonly { readonly name: string }[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** A language model of the AI SDK (specification v3) that needs no network. */
export interface ScriptedModel {
  readonly specificationVersion: 'v3';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  /** The requests so far, the oldest first. */
  readonly requests: ScriptedRequest[];
  /** Returns the next step of the script as a whole. */
  doGenerate(request: ScriptedRequest): Promise<Answer & { content: Part[]; warnings: never[] }>;
  /** Returns the next step of the script as a stream. */
  doStream(request: ScriptedRequest): Promise<{ stream: ReadableStream<Chunk> }>;
}

type TextPart = { type: 'text'; text: string };
type CallPart = { type: 'tool-call'; toolCallId: string; toolName: string; input: string };
type Part = TextPart | CallPart;

interface Answer {
  finishReason: { unified: 'stop' | 'tool-calls'; raw: undefined };
  usage: {
    inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number };
    outputTokens: { total: number; text: number; reasoning: number };
  };
}

type Chunk =
  | { type: 'stream-start'; warnings: never[] }
  | CallPart
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | ({ type: 'finish' } & Answer);

const USAGE: Answer['usage'] = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

/**
 * Creates a model that follows a script, for examples and tests. Use it wherever a model of the
 * AI SDK can be used: in `createAgent`, in `generateText` of `ai`, in an agent of Mastra.
 *
 * @param script the steps in their order; after the last one, the model says that it has nothing
 * more to say. Or a function that returns a step, given the request and the number of the step,
 * from 0
 * @returns the model
 * @example
 * ```ts
 * const model = scriptedModel([[['read_file', { path: 'notes.txt' }]], 'They say hello.']);
 * ```
 */
export function scriptedModel(
  script: readonly ScriptedStep[] | ((request: ScriptedRequest, step: number) => ScriptedStep),
): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  const say = (request: ScriptedRequest): { content: Part[] } & Answer => {
    request.abortSignal?.throwIfAborted();
    const at = requests.push(request) - 1;
    const step = typeof script === 'function' ? script(request, at) : script[at];
    const content = partsOf(step ?? 'I have nothing more to say.', at);
    const unified = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
    return { content, finishReason: { unified, raw: undefined }, usage: USAGE };
  };
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    requests,
    doGenerate: async (request) => ({ ...say(request), warnings: [] }),
    async doStream(request) {
      const { content, ...rest } = say(request);
      return {
        stream: new ReadableStream<Chunk>({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] });
            for (const chunk of content.flatMap(chunksOf)) controller.enqueue(chunk);
            controller.enqueue({ type: 'finish', ...rest });
            controller.close();
          },
        }),
      };
    },
  };
}

function partsOf(step: ScriptedStep, at: number): Part[] {
  if (typeof step === 'string') return [{ type: 'text', text: step }];
  return step.map(([toolName, args, id], index) => ({
    type: 'tool-call',
    toolCallId: id ?? `call-${at + 1}-${index + 1}`,
    toolName,
    // A text is passed unchanged, so that a test can make the model write invalid JSON.
    input: typeof args === 'string' ? args : JSON.stringify(args),
  }));
}

function chunksOf(part: Part): Chunk[] {
  if (part.type === 'tool-call') return [part];
  return [
    { type: 'text-start', id: 'text' },
    { type: 'text-delta', id: 'text', delta: part.text },
    { type: 'text-end', id: 'text' },
  ];
}
