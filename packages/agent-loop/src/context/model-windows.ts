import type { LanguageModel } from 'ai';

/** Tokens of the window of a model that is not in the table. */
export const UNKNOWN_WINDOW = 32_000;

/**
 * Tokens of the window, as the makers publish them, by how the id of a model begins. The longest
 * beginning that fits counts. Where a maker sells a larger window for more, the smaller one stands here; where the prompt
 * has a limit of its own, that.
 */
const WINDOWS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['claude-', 200_000],
  ['codestral', 32_000],
  ['command-a', 256_000],
  ['command-r', 128_000],
  ['deepseek-', 64_000],
  ['gemini-', 1_048_576],
  ['gpt-3.5-turbo', 16_385],
  ['gpt-4', 8_192],
  ['gpt-4-1106', 128_000],
  ['gpt-4-0125', 128_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-5', 272_000],
  ['gpt-5-chat', 128_000],
  ['gpt-oss-', 131_072],
  ['grok-3', 131_072],
  ['grok-4', 256_000],
  ['mistral-large', 128_000],
  ['mistral-medium', 128_000],
  ['mistral-small', 32_000],
  ['o1', 200_000],
  ['o1-mini', 128_000],
  ['o1-preview', 128_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
];

const PREFIXES = /^(?:(?:us|eu|apac|global)\.)?(?:(?:anthropic|cohere|mistral|openai)\.)?/;

/** The id of a model, without the names of regions and makers before it, in lower case. */
function plainId(model: LanguageModel): string {
  const { modelId }: { modelId?: unknown } = Object(model);
  const id = typeof model === 'string' ? model : String(modelId ?? '');
  return id
    .toLowerCase()
    .slice(id.lastIndexOf('/') + 1)
    .replace(PREFIXES, '');
}

/** Tokens that a model reads and writes in one request, as far as they are known. */
export function windowOf(model: LanguageModel): number {
  const id = plainId(model);
  const fits = WINDOWS.filter(([prefix]) => id.startsWith(prefix));
  const best = fits.sort(([a], [b]) => b.length - a.length)[0];
  return best?.[1] ?? UNKNOWN_WINDOW;
}
