import type { ToolDefinition } from '@ethosagent/types';
import type { PromptMessage } from '../model/provider-prompt.js';

/** The parts of a request to the model. */
export interface Prompt {
  system: string;
  messages: PromptMessage[];
  definitions: readonly ToolDefinition[];
}

/** A rough average for natural languages and code. */
const BYTES_PER_TOKEN = 4;
/** The tokens that providers count for an image of usual size. */
const TOKENS_PER_IMAGE = 1_600;
/** The tokens that a message takes besides its content. */
const TOKENS_PER_MESSAGE = 4;

/** A rough estimate of a text's tokens. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** A rough estimate of a result's tokens. */
export function resultTokens(text: string, images: number): number {
  return textTokens(text) + images * TOKENS_PER_IMAGE;
}

/** Nobody changes a message, so its tokens are counted once, not in each step that sends it. */
const counted = new WeakMap<PromptMessage, number>();

/** A rough estimate of the messages' tokens. */
export function messageTokens(messages: readonly PromptMessage[]): number {
  let tokens = 0;
  for (const message of messages) {
    let own = counted.get(message);
    if (own === undefined) {
      own = tokensOf(message);
      counted.set(message, own);
    }
    tokens += own;
  }
  return tokens;
}

function tokensOf({ content }: PromptMessage): number {
  let tokens = TOKENS_PER_MESSAGE;
  if (typeof content === 'string') tokens += textTokens(content);
  else for (const part of content) tokens += partTokens(part);
  return tokens;
}

type Part = Exclude<PromptMessage['content'], string>[number];

function partTokens(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return textTokens(part.text);
    case 'tool-call':
      return textTokens(part.toolName) + textTokens(JSON.stringify(part.input));
    case 'tool-result': {
      const { output } = part;
      if (output.type !== 'content') return textTokens(JSON.stringify(output));
      return output.value.reduce(
        (sum, each) => sum + (each.type === 'text' ? textTokens(each.text) : TOKENS_PER_IMAGE),
        0,
      );
    }
    default:
      return 0;
  }
}

/**
 * A rough estimate of a prompt's tokens: a quarter of its bytes, and a fixed number for each image.
 */
export function promptTokens({ system, messages, definitions }: Prompt): number {
  return (
    textTokens(system) +
    (definitions.length === 0 ? 0 : textTokens(JSON.stringify(definitions))) +
    messageTokens(messages)
  );
}

const MIN_FACTOR = 0.5;
const MAX_FACTOR = 4;

/**
 * The factor by which estimates are corrected, from what the model reported for a prompt that was
 * estimated. A provider may leave out what it had cached, so a report far below the estimate is not
 * believed, unless the provider clears the prompt itself.
 */
export function correction(
  step: { inputTokens: number; estimate: number } | undefined,
  { isNative = false }: { isNative?: boolean } = {},
): number {
  if (step === undefined || step.estimate <= 0 || step.inputTokens <= 0) return 1;
  const factor = step.inputTokens / step.estimate;
  return Math.min(MAX_FACTOR, Math.max(isNative ? 0 : MIN_FACTOR, factor));
}
