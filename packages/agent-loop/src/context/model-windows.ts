import type { LanguageModel } from 'ai';

/** The assumed window, in tokens, of a model that is not in the table. */
export const UNKNOWN_WINDOW = 32_000;

/**
 * The window in tokens, as published by the maker, by the start of the model's id. The longest
 * start that matches counts. If models with the same start differ, the smallest window is listed.
 * If the prompt has a limit of its own, that limit is listed. A window that is too small costs an
 * unnecessary summary. One that is too large makes the turn fail.
 */
const WINDOWS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['claude-', 200_000],
  ['claude-fable-5', 1_000_000],
  ['claude-haiku-5', 1_000_000],
  ['claude-instant', 100_000],
  ['claude-opus-5', 1_000_000],
  ['claude-sonnet-5', 1_000_000],
  ['codestral', 32_000],
  ['command-a', 256_000],
  ['command-r', 128_000],
  ['deepseek-', 64_000],
  ['deepseek-v4', 1_000_000],
  ['devstral', 128_000],
  ['gemini-', 1_000_000],
  ['gemini-live', 128_000],
  ['gemma', 8_192],
  ['gemma-3', 128_000],
  ['gemma-4', 128_000],
  ['glm-', 128_000],
  ['gpt-3.5-turbo', 16_385],
  ['gpt-4', 8_192],
  ['gpt-4-1106', 128_000],
  ['gpt-4-0125', 128_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-5', 272_000],
  ['gpt-oss-', 131_072],
  ['grok-', 131_072],
  ['grok-2-vision', 8_192],
  ['grok-4', 256_000],
  ['grok-code', 256_000],
  ['grok-vision', 8_192],
  ['kimi-k2', 131_072],
  ['llama-3.', 128_000],
  ['llama-4', 128_000],
  ['llama3', 8_192],
  ['magistral', 40_000],
  ['minimax-m2', 196_608],
  ['ministral', 128_000],
  ['mistral-large', 128_000],
  ['mistral-medium', 128_000],
  ['mistral-small', 32_000],
  ['o1', 200_000],
  ['o1-mini', 128_000],
  ['o1-preview', 128_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
  ['open-mistral-7b', 8_000],
  ['pixtral', 128_000],
];

/** Models with a smaller window than their family, by a part of their id. */
const SMALLER: readonly (readonly [pattern: RegExp, tokens: number])[] = [
  [/^gpt-5.*-(?:chat|spark)/, 128_000],
  [/^gemini-.*live/, 128_000],
];

const PREFIXES = /^(?:(?:us|eu|apac|global)\.)?(?:(?:anthropic|cohere|mistral|openai)\.)?/;

/** The id of a model in lower case, without the names of regions and makers in front. */
function plainId(model: LanguageModel): string {
  const { modelId }: { modelId?: unknown } = Object(model);
  const id = typeof model === 'string' ? model : String(modelId ?? '');
  return id
    .toLowerCase()
    .slice(id.lastIndexOf('/') + 1)
    .replace(PREFIXES, '');
}

/**
 * How many tokens a model reads and writes in one request; `UNKNOWN_WINDOW` if that is not known.
 */
export function windowOf(model: LanguageModel): number {
  return knownWindow(model) ?? UNKNOWN_WINDOW;
}

/** As `windowOf`; `undefined` if the window is not known. */
export function knownWindow(model: LanguageModel): number | undefined {
  const id = plainId(model);
  const smaller = SMALLER.find(([pattern]) => pattern.test(id));
  if (smaller !== undefined) return smaller[1];
  const fits = WINDOWS.filter(([prefix]) => id.startsWith(prefix));
  const best = fits.sort(([a], [b]) => b.length - a.length)[0];
  return best?.[1];
}
