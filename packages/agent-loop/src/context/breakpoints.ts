import type { LanguageModel } from 'ai';
import type { PromptMessage, SystemMessage } from '../model/provider-prompt.js';

/**
 * The provider options of a message that is a breakpoint: the provider caches the prompt up to it.
 */
const OPTIONS = {
  anthropic: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  bedrock: { bedrock: { cachePoint: { type: 'default' } } },
} as const;

/** Which provider's breakpoints a model accepts. */
export function cacheOf(model: LanguageModel): keyof typeof OPTIONS | undefined {
  const { provider, modelId }: { provider?: unknown; modelId?: unknown } = Object(model);
  const name = typeof model === 'string' ? model : String(provider ?? '');
  if (/^(?:anthropic|vertex\.anthropic|googlevertex\.anthropic)\b/.test(name)) return 'anthropic';
  const isOfAmazon = /^amazon-bedrock\b/.test(name);
  return isOfAmazon && /anthropic|nova/.test(String(modelId)) ? 'bedrock' : undefined;
}

/**
 * A prompt with breakpoints after three parts: the system prompt with the tools before it, the
 * messages of the last request, and the whole prompt. The model reads the same text.
 */
export function withBreakpoints(
  { system, messages }: { system: string; messages: PromptMessage[] },
  model: LanguageModel,
): { system: string | SystemMessage; messages: PromptMessage[] } {
  const cache = cacheOf(model);
  if (cache === undefined) return { system, messages };
  const providerOptions = OPTIONS[cache];
  const last = messages.length - 1;
  const before = messages.findLastIndex(({ role }, at) => role === 'assistant' && at < last) - 1;
  return {
    system: { role: 'system', content: system, providerOptions },
    messages: messages.map((message, at) =>
      at === last || at === before ? { ...message, providerOptions } : message,
    ),
  };
}

/** The options with which Anthropic itself clears and summarises the prompt. */
export function nativeOptions(
  kinds: readonly ('clear' | 'compact')[],
  atTokens: number,
): Record<string, Record<string, unknown>> {
  if (kinds.length === 0) return {};
  const trigger = { type: 'input_tokens', value: atTokens };
  const edits = kinds.map((kind) => ({
    type: kind === 'clear' ? 'clear_tool_uses_20250919' : 'compact_20260112',
    trigger,
  }));
  return { anthropic: { contextManagement: { edits } } };
}
