import { isObject } from '@ethosagent/policy';
import type { ToolDefinition } from '@ethosagent/types';
import type { ProviderMetadata } from 'ai';
import type { ReportedUsage } from '../usage.js';
import type { IssuedCall } from './call-parts.js';
import { ModelFailure } from './model-error.js';
import type { ProviderPart } from './provider-model.js';

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

/** Builds an answer from the parts of a stream. */
export class AnswerBuilder {
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
    // The stack of the parser overflowed.
    if (error instanceof RangeError) return { input: text, unreadable: 'they are nested too deep' };
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
