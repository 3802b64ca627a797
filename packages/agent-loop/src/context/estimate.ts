import type { ToolDefinition } from '@ethosagent/types';
import type { ModelMessage } from 'ai';

/** What the model is asked with. */
export interface Prompt {
  system: string;
  messages: ModelMessage[];
  definitions: readonly ToolDefinition[];
}

/** Bytes of UTF-8 of a token, roughly, in the languages and the code that there are. */
const BYTES_PER_TOKEN = 4;
/** What providers count for an image of the usual size. */
const TOKENS_PER_IMAGE = 1_600;
/** What is around a message. */
const TOKENS_PER_MESSAGE = 4;

/** Tokens of a text, roughly. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Tokens of a result, roughly. */
export function resultTokens(text: string, images: number): number {
  return textTokens(text) + images * TOKENS_PER_IMAGE;
}

/** Tokens of messages, roughly. */
export function messageTokens(messages: readonly ModelMessage[]): number {
  let tokens = 0;
  for (const { content } of messages) {
    tokens += TOKENS_PER_MESSAGE;
    if (typeof content === 'string') tokens += textTokens(content);
    else for (const part of content) tokens += partTokens(part);
  }
  return tokens;
}

type Part = Exclude<ModelMessage['content'], string>[number];

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

/** Tokens of a prompt, roughly: bytes by four, and a flat rate for each image. */
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
 * How far estimates are to be stretched, by what the model reported for a prompt that had been
 * estimated. A report far below, as of a provider that doesn't count what it had cached, is not
 * believed; except for one that clears the prompt itself.
 */
export function correction(
  step: { inputTokens: number; estimate: number } | undefined,
  { isNative = false }: { isNative?: boolean } = {},
): number {
  if (step === undefined || step.estimate <= 0 || step.inputTokens <= 0) return 1;
  const factor = step.inputTokens / step.estimate;
  return Math.min(MAX_FACTOR, Math.max(isNative ? 0 : MIN_FACTOR, factor));
}
