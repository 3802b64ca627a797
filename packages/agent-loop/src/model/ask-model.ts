import type { ToolDefinition } from '@ethosagent/types';
import type {
  LanguageModel,
  LanguageModelUsage,
  ModelMessage,
  ProviderMetadata,
  ToolSet,
} from 'ai';
import type { ModelSettings } from '../api.js';
import { nativeOptions, withBreakpoints } from '../context/breakpoints.js';
import type { ContextPlan } from '../context/context-plan.js';
import type { IssuedCall } from './call-parts.js';
import { IdleWatch } from './idle-watch.js';
import { ModelFailure, modelFailure } from './model-error.js';

export interface ModelRequest {
  model: LanguageModel;
  system: string;
  messages: ModelMessage[];
  definitions: readonly ToolDefinition[];
  settings: ModelSettings;
  /** Present if other requests follow: then the provider should cache the prompt. */
  context?: ContextPlan;
  isWithoutCalls?: boolean;
  signal: AbortSignal;
  /** After this many milliseconds without a word, the answer counts as broken off. */
  idleMs: number;
  now: () => number;
}

/** An answer of the model. */
export interface ModelAnswer {
  parts: AnswerPart[];
  finish: string;
  usage: Partial<LanguageModelUsage> | undefined;
  /** The number of characters of everything that the model wrote. */
  chars: number;
  /** Whether the provider added content from elsewhere to the answer. */
  hasSources: boolean;
}

export type AnswerPart =
  | { type: 'text' | 'reasoning'; text: string; metadata?: ProviderMetadata }
  | { type: 'call'; call: IssuedCall; metadata?: ProviderMetadata };

/** Without it, each `abort()` makes an error with a stack, twice a step. */
const ANSWER_ENDED = new DOMException('The answer has ended.', 'AbortError');

/** No existing model writes an answer of this many characters. */
const MAX_ANSWER_CHARS = 2_000_000;

/** Receives an answer while it arrives. */
export interface AnswerListener {
  /** Awaited. */
  word(type: 'text' | 'reasoning', text: string): Promise<void>;
  /** The provider adds content from elsewhere to the answer. */
  source(): void;
}

/**
 * Asks the model once, without a retry.
 *
 * @throws `ModelFailure`; the reason of the signal when it fires
 */
export async function askModel(
  request: ModelRequest,
  listener: AnswerListener,
): Promise<ModelAnswer> {
  const attempt = new AbortController();
  const abort = () => attempt.abort(request.signal.reason);
  if (request.signal.aborted) abort();
  request.signal.addEventListener('abort', abort, { once: true });
  try {
    return await readAnswer(request, attempt, listener);
  } catch (error) {
    request.signal.throwIfAborted();
    throw modelFailure(error, request.now);
  } finally {
    request.signal.removeEventListener('abort', abort);
    // Ends what still arrives of an answer that is no longer wanted.
    attempt.abort(ANSWER_ENDED);
  }
}

let sdkModule: Promise<typeof import('ai')> | undefined;

/** Node resolves the name again at each `import()`, and a loader such as `tsx` asks its own thread. */
function loadSdk(): Promise<typeof import('ai')> {
  sdkModule ??= import('ai');
  return sdkModule;
}

async function readAnswer(
  request: ModelRequest,
  attempt: AbortController,
  listener: AnswerListener,
): Promise<ModelAnswer> {
  const { model, definitions, settings, context, isWithoutCalls, idleMs, signal } = request;
  const { system, messages } = context === undefined ? request : withBreakpoints(request, model);
  const sdk = await loadSdk();
  const { streamText, jsonSchema } = sdk;
  signal.throwIfAborted();
  const { providerOptions, ...rest } = settings;
  const result = streamText({
    model,
    ...(isSeven(sdk) ? { instructions: system } : { system }),
    // The SDK parses `messages` again in every step, which made long turns ten times as slow. What
    // `prepareStep` returns is not parsed.
    messages: messages.slice(0, 1),
    prepareStep: () => ({ messages }),
    tools: toolSet(definitions, jsonSchema),
    maxRetries: 0,
    abortSignal: attempt.signal,
    // The stream contains the errors too. Without this, the SDK also prints them.
    onError: () => {},
    ...rest,
    ...(isWithoutCalls === true && { toolChoice: 'none' as const }),
    ...optionsOf(providerOptions, context),
  });
  const answer = new AnswerBuilder();
  for await (const part of watched(partsOf(result), idleMs, attempt)) {
    const word = answer.add(part);
    if (answer.hasSources) listener.source();
    if (answer.size > MAX_ANSWER_CHARS) {
      throw new ModelFailure(`the answer is longer than ${MAX_ANSWER_CHARS} characters`, {
        isRetryable: false,
      });
    }
    if (word !== undefined) await listener.word(word.type, word.text);
  }
  signal.throwIfAborted();
  return answer.answer();
}

/** The host's own options, together with those for what the provider does with the prompt. */
function optionsOf(own: ModelSettings['providerOptions'], context: ContextPlan | undefined) {
  const native = nativeOptions(context?.native ?? [], context?.nativeAt ?? 0);
  if (own === undefined && Object.keys(native).length === 0) return {};
  const all: Record<string, unknown> = { ...native, ...own };
  for (const [name, options] of Object.entries(native)) all[name] = { ...options, ...own?.[name] };
  return { providerOptions: JSON.parse(JSON.stringify(all)) };
}

type Part = { type: string };

class AnswerBuilder {
  chars = 0;
  /** Characters and parts together. */
  size = 0;
  readonly #parts: AnswerPart[] = [];
  readonly #blocks = new Map<string, Extract<AnswerPart, { text: string }>>();
  #finish: string | undefined;
  #usage: Partial<LanguageModelUsage> | undefined;
  hasSources = false;
  /** The characters of arguments that came in pieces, by call. */
  readonly #argumentChars = new Map<string, number>();

  /** Takes a part of the stream. Returns what a reader sees of it. */
  add(part: StreamPart): { type: 'text' | 'reasoning'; text: string } | undefined {
    // Each part counts, so that a flood of empty parts is limited too.
    this.size += 1;
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#block(part);
        return undefined;
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.#block(part);
        block.text += part.text;
        this.#grow(part.text.length);
        return part.text === '' ? undefined : { type: block.type, text: part.text };
      }
      case 'text-end':
      case 'reasoning-end':
        this.#block(part);
        return undefined;
      case 'tool-input-delta':
        this.#grow(part.delta.length);
        this.#argumentChars.set(
          part.id,
          (this.#argumentChars.get(part.id) ?? 0) + part.delta.length,
        );
        return undefined;
      case 'tool-call':
        this.#addCall(part);
        return undefined;
      case 'source':
      case 'tool-result':
      case 'tool-error':
        this.hasSources ||= part.type === 'source' || part.providerExecuted === true;
        return undefined;
      case 'finish-step':
        this.#finish = isBrokenOff(part) ? undefined : part.finishReason;
        this.#usage = part.usage;
        return undefined;
      case 'error':
        throw part.error;
      default:
        return undefined;
    }
  }

  answer(): ModelAnswer {
    if (this.#finish === undefined || this.#finish === 'error') {
      throw new ModelFailure('the answer broke off', { isRetryable: true });
    }
    return {
      parts: this.#parts.filter((part) => part.type !== 'text' || part.text.trim() !== ''),
      finish: this.#finish,
      usage: this.#usage,
      chars: this.chars,
      hasSources: this.hasSources,
    };
  }

  #grow(chars: number): void {
    this.chars += chars;
    this.size += chars;
  }

  #block(part: TextPart): Extract<AnswerPart, { text: string }> {
    const type = part.type.startsWith('text') ? 'text' : 'reasoning';
    const key = `${type} ${part.id}`;
    let block = part.type.endsWith('-start') ? undefined : this.#blocks.get(key);
    if (block === undefined) {
      block = { type, text: '' };
      this.#blocks.set(key, block);
      this.#parts.push(block);
    }
    if (part.providerMetadata !== undefined) block.metadata = part.providerMetadata;
    return block;
  }

  #addCall(part: CallPart): void {
    // Some providers send the arguments in one piece.
    const chars = part.toolCallId.length + (JSON.stringify(part.input) ?? '').length;
    this.#grow(Math.max(0, chars - (this.#argumentChars.get(part.toolCallId) ?? 0)));
    if (part.providerExecuted === true) {
      this.hasSources = true;
      return;
    }
    this.#parts.push({
      type: 'call',
      call: {
        id: part.toolCallId,
        name: part.toolName,
        input: part.input,
        ...(part.invalid === true && { error: errorFacts(part.error) }),
      },
      ...(part.providerMetadata !== undefined && { metadata: part.providerMetadata }),
    });
  }
}

type StreamPart =
  Awaited<ReturnType<typeof import('ai')['streamText']>>['fullStream'] extends AsyncIterable<
    infer P
  >
    ? P
    : Part;
type TextPart = Extract<
  StreamPart,
  { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }
>;
type CallPart = Extract<StreamPart, { type: 'tool-call' }>;

/** The SDK invents a finish if the stream ends without one. */
function isBrokenOff(part: Extract<StreamPart, { type: 'finish-step' }>): boolean {
  const { finishReason, rawFinishReason, usage } = part;
  return (
    finishReason === 'other' && rawFinishReason === undefined && usage?.outputTokens === undefined
  );
}

function errorFacts(error: unknown): { name: string; message: string } {
  const { name, cause, message }: { name?: unknown; cause?: unknown; message?: unknown } =
    Object(error);
  // The SDK's own message repeats the arguments. Its cause says what is wrong with them.
  const { message: reason }: { message?: unknown } = Object(cause);
  return {
    name: typeof name === 'string' ? name : '',
    message: typeof reason === 'string' ? reason : typeof message === 'string' ? message : '',
  };
}

function toolSet(
  definitions: readonly ToolDefinition[],
  jsonSchema: typeof import('ai')['jsonSchema'],
): ToolSet {
  // Without a prototype, since a model may call a tool named `constructor`.
  const tools: ToolSet = Object.create(null);
  for (const { name, description, parameters } of definitions) {
    tools[name] = { description, inputSchema: jsonSchema({ type: 'object', ...parameters }) };
  }
  return tools;
}

/** `ai` 7 has other names for some things. */
function isSeven(sdk: object): boolean {
  return 'isStepCount' in sdk;
}

function partsOf(
  result: ReturnType<typeof import('ai')['streamText']> & { stream?: unknown },
): AsyncIterable<StreamPart> {
  return isParts(result.stream) ? result.stream : result.fullStream;
}

function isParts(stream: unknown): stream is AsyncIterable<StreamPart> {
  return typeof stream === 'object' && stream !== null && Symbol.asyncIterator in stream;
}

/** Yields the parts, each of which has to come in time, and then ends the attempt. */
async function* watched<T>(
  parts: AsyncIterable<T>,
  idleMs: number,
  attempt: AbortController,
): AsyncGenerator<T> {
  const iterator = parts[Symbol.asyncIterator]();
  const watch = new IdleWatch(idleMs, attempt.signal);
  try {
    for (;;) {
      const next = await watch.wait(iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    watch.end();
    attempt.abort(ANSWER_ENDED);
    // Not awaited: a stream that ignores its signal would keep the turn from going on.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
