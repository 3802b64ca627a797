import type { ToolDefinition } from '@ethosagent/types';
import type { LanguageModel } from 'ai';
import type { ModelSettings } from '../api.js';
import { nativeOptions, withBreakpoints } from '../context/breakpoints.js';
import type { ContextPlan } from '../context/context-plan.js';
import { AnswerBuilder, type ModelAnswer } from './answer-builder.js';
import { IdleWatch } from './idle-watch.js';
import { ModelFailure, modelFailure } from './model-error.js';
import { type ProviderModel, type ProviderRequest, providerModel } from './provider-model.js';
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
