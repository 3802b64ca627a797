import { isObject } from '@ethosagent/policy';
import type { ToolDefinition } from '@ethosagent/types';
import type { LanguageModel, ProviderMetadata } from 'ai';
import type { ModelSettings } from '../api.js';
import { nativeOptions, withBreakpoints } from '../context/breakpoints.js';
import type { ContextPlan } from '../context/context-plan.js';
import type { ReportedUsage } from '../usage.js';
import type { IssuedCall } from './call-parts.js';
import { IdleWatch } from './idle-watch.js';
import { ModelFailure, modelFailure } from './model-error.js';
import {
  type ProviderModel,
  type ProviderPart,
  type ProviderRequest,
  providerModel,
} from './provider-model.js';
import { type PromptMessage, providerPrompt } from './provider-prompt.js';

type FunctionTool = Extract<NonNullable<ProviderRequest['tools']>[number], { type: 'function' }>;

export interface ModelRequest {
  model: LanguageModel;
  system: string;
  messages: PromptMessage[];
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
  usage: ReportedUsage | undefined;
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

async function readAnswer(
  request: ModelRequest,
  attempt: AbortController,
  listener: AnswerListener,
): Promise<ModelAnswer> {
  const { definitions, settings, context, isWithoutCalls, idleMs, signal } = request;
  const { model, version } = await providerModel(request.model);
  signal.throwIfAborted();
  const prompt = context === undefined ? request : withBreakpoints(request, request.model);
  const { providerOptions, ...rest } = settings;
  const watch = new IdleWatch(idleMs, attempt.signal);
  const answer = new AnswerBuilder(definitions);
  try {
    const asked = start(model, {
      ...rest,
      prompt: providerPrompt(prompt, version),
      ...(definitions.length > 0 && {
        tools: definitions.map(functionTool),
        toolChoice: { type: isWithoutCalls === true ? 'none' : 'auto' },
      }),
      abortSignal: attempt.signal,
      ...optionsOf(providerOptions, context),
    });
    const { stream } = await watch.wait(asked).catch((error: unknown) => {
      // The model may ignore the signal, and begin to answer all the same.
      void asked.then(({ stream }) => stream.cancel()).catch(() => {});
      throw error;
    });
    for await (const part of watched(stream, watch)) {
      const word = answer.add(part);
      if (answer.hasSources) listener.source();
      if (answer.size > MAX_ANSWER_CHARS) {
        throw new ModelFailure(`the answer is longer than ${MAX_ANSWER_CHARS} characters`, {
          isRetryable: false,
        });
      }
      if (word !== undefined) await listener.word(word.type, word.text);
    }
  } finally {
    watch.end();
  }
  signal.throwIfAborted();
  return answer.answer();
}

/** A model of a host may also throw at once, or answer without a promise. */
async function start(model: ProviderModel, request: ProviderRequest) {
  return await model.doStream(request);
}

/** The host's own options, together with those for what the provider does with the prompt. */
function optionsOf(own: ModelSettings['providerOptions'], context: ContextPlan | undefined) {
  const native = nativeOptions(context?.native ?? [], context?.nativeAt ?? 0);
  if (own === undefined && Object.keys(native).length === 0) return {};
  const all: Record<string, unknown> = { ...native, ...own };
  for (const [name, options] of Object.entries(native)) all[name] = { ...options, ...own?.[name] };
  return { providerOptions: JSON.parse(JSON.stringify(all)) };
}

class AnswerBuilder {
  chars = 0;
  /** Characters and parts together. */
  size = 0;
  readonly #parts: AnswerPart[] = [];
  readonly #blocks = new Map<string, Extract<AnswerPart, { text: string }>>();
  #finish: string | undefined;
  #usage: ReportedUsage | undefined;
  hasSources = false;
  /** The characters of arguments that came in pieces, by call. */
  readonly #argumentChars = new Map<string, number>();
  readonly #offered: ReadonlySet<string>;

  constructor(definitions: readonly ToolDefinition[]) {
    this.#offered = new Set(definitions.map(({ name }) => name));
  }

  /** Takes a part of the stream. Returns what a reader sees of it. */
  add(part: ProviderPart): { type: 'text' | 'reasoning'; text: string } | undefined {
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
        block.text += part.delta;
        this.#grow(part.delta.length);
        return part.delta === '' ? undefined : { type: block.type, text: part.delta };
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
        // A result in the answer is of a tool that the provider ran.
        this.hasSources = true;
        return undefined;
      case 'finish':
        this.#usage = usageOf(part);
        this.#finish = finishOf(part, this.#usage);
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
    const chars = part.toolCallId.length + part.input.length;
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
        ...readArguments(part.input),
        ...(!this.#offered.has(part.toolName) && { isUnoffered: true }),
      },
      ...(part.providerMetadata !== undefined && { metadata: part.providerMetadata }),
    });
  }
}

type TextPart = Extract<
  ProviderPart,
  { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }
>;
type CallPart = Extract<ProviderPart, { type: 'tool-call' }>;
type FinishPart = Extract<ProviderPart, { type: 'finish' }>;

/** The arguments as the model wrote them: JSON, or nothing. */
function readArguments(text: string): Pick<IssuedCall, 'input' | 'unreadable'> {
  if (text.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(text, refusePrototype) };
  } catch (error) {
    return { input: text, unreadable: error instanceof Error ? error.message : String(error) };
  }
}

/** A program that copies such arguments by hand would change the prototype of its objects. */
function refusePrototype(key: string, value: unknown): unknown {
  const isChain = key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype');
  if (key === '__proto__' || isChain) throw new SyntaxError(`the key ${key} is not allowed`);
  return value;
}

/** `undefined` for the finish that providers invent if the answer ends without one. */
function finishOf({ finishReason }: FinishPart, usage: ReportedUsage): string | undefined {
  const { unified, raw } = reasonOf(finishReason);
  const isInvented = unified === 'other' && raw === undefined && usage.outputTokens === undefined;
  return isInvented ? undefined : unified;
}

/** Version 2 of the interface says the reason alone, and counts all tokens in one object. */
function reasonOf(reason: unknown): { unified: string; raw?: unknown } {
  return typeof reason === 'string'
    ? { unified: reason === 'unknown' ? 'other' : reason }
    : Object(reason);
}

function usageOf({ usage }: FinishPart): ReportedUsage {
  const { inputTokens, outputTokens, cachedInputTokens }: Record<string, unknown> = Object(usage);
  const input = numbersOf(inputTokens);
  return {
    inputTokens: input.total,
    cacheReadTokens: input.cacheRead ?? numbersOf(cachedInputTokens).total,
    cacheWriteTokens: input.cacheWrite,
    outputTokens: numbersOf(outputTokens).total,
  };
}

function numbersOf(tokens: unknown): { total?: number; cacheRead?: number; cacheWrite?: number } {
  return typeof tokens === 'number' ? { total: tokens } : Object(tokens);
}

function functionTool({ name, description, parameters }: ToolDefinition): FunctionTool {
  return { type: 'function', name, description, inputSchema: { type: 'object', ...parameters } };
}

/** Yields the parts, each of which has to come in time. */
async function* watched<T>(parts: ReadableStream<T>, watch: IdleWatch): AsyncGenerator<T> {
  const reader = parts.getReader();
  try {
    for (;;) {
      const next = await watch.wait(reader.read());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a stream that ignores its signal would keep the turn from going on.
    void reader.cancel().catch(() => {});
  }
}
