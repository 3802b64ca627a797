import { describe, expect, it } from 'vitest';
import { knownWindow, UNKNOWN_WINDOW, windowOf } from './model-windows.js';

/**
 * Ids with the tokens that their makers publish, for a prompt with its answer, or for the prompt if
 * it has a limit of its own. Sources: the makers' pages, and the model list of @mariozechner/pi-ai
 * 0.73.1.
 */
const PUBLISHED: readonly (readonly [tokens: number, ids: string])[] = [
  [200_000, 'claude-3-5-haiku-latest claude-3-7-sonnet-20250219 claude-3-haiku-20240307'],
  [200_000, 'claude-opus-4-0 claude-opus-4-1 claude-opus-4-5 claude-sonnet-4-0 claude-sonnet-4-5'],
  [200_000, 'us.anthropic.claude-sonnet-4-5-20250929-v1:0 anthropic/claude-haiku-4.5'],
  [1_000_000, 'claude-opus-5 claude-opus-5-5 claude-sonnet-5 claude-sonnet-5-5 claude-haiku-5-5'],
  [1_000_000, 'claude-fable-5-1 claude-opus-4-7'],
  [8_192, 'gpt-4 gpt-4-0613'],
  [16_385, 'gpt-3.5-turbo gpt-3.5-turbo-0125'],
  [128_000, 'gpt-4-turbo gpt-4o gpt-4o-mini gpt-4o-2024-11-20 o1-mini o1-preview'],
  [128_000, 'gpt-5-chat-latest gpt-5.1-chat-latest gpt-5.2-chat-latest gpt-5.3-codex-spark'],
  [1_047_576, 'gpt-4.1 gpt-4.1-mini gpt-4.1-nano'],
  [
    272_000,
    'gpt-5 gpt-5-mini gpt-5-nano gpt-5-codex gpt-5.1 gpt-5.1-codex-max gpt-5.2 gpt-5.2-pro',
  ],
  [272_000, 'openai/gpt-5-mini gpt-5.3-codex gpt-5.4-mini'],
  [1_050_000, 'gpt-5.4 gpt-5.4-pro gpt-5.5 gpt-5.5-pro'],
  [131_072, 'openai/gpt-oss-120b gpt-oss-20b'],
  [200_000, 'o1 o1-pro o3 o3-mini o3-pro o3-deep-research o4-mini'],
  [1_000_000, 'gemini-1.5-pro gemini-1.5-flash gemini-3-pro-preview'],
  [1_048_576, 'gemini-2.0-flash gemini-2.5-pro gemini-2.5-flash-lite gemini-flash-latest'],
  [128_000, 'gemini-live-2.5-flash gemini-2.5-flash-live-preview'],
  [8_192, 'gemma2-9b-it llama3-70b-8192 llama3-8b-8192 grok-2-vision-1212 grok-vision-beta'],
  [131_072, 'gemma-3-27b-it grok-2 grok-3 grok-3-mini grok-beta llama-3.3-70b-versatile'],
  [131_072, 'llama-3.1-8b-instant meta-llama/llama-4-scout-17b-16e-instruct kimi-k2-0711-preview'],
  [256_000, 'grok-4 grok-4-0709 grok-code-fast-1 gemma-4-31b-it command-a-03-2025'],
  [2_000_000, 'grok-4-fast grok-4-1-fast'],
  [262_144, 'kimi-k2-thinking kimi-k2.5 mistral-large-latest mistral-medium-latest'],
  [128_000, 'mistral-medium-2505 mistral-large-2411 mistral-small-2506 pixtral-large-latest'],
  [128_000, 'ministral-8b-latest devstral-small-2507 magistral-small command-r-plus'],
  [256_000, 'codestral-latest mistral-small-latest'],
  [131_072, 'glm-4.5-air zai-glm-4.7'],
  [200_000, 'glm-4.7 glm-5.1 MiniMax-M2.7'],
  [64_000, 'deepseek-chat deepseek-reasoner'],
  [1_000_000, 'deepseek-v4-pro deepseek-v4-flash'],
];
const MODELS = PUBLISHED.flatMap(([tokens, ids]) =>
  ids.split(' ').map((id) => [id, tokens] as const),
);

describe('windowOf', () => {
  it.each(MODELS)('of %s is not larger than the %i that its maker says', (id, tokens) => {
    expect(windowOf(id)).toBeLessThanOrEqual(tokens);
    expect(windowOf(Object({ modelId: id }))).toBe(windowOf(id));
  });

  it('is what the maker says of the models of the three largest makers', () => {
    const smaller = MODELS.filter(([id]) => /^(?:claude|gpt|o\d|gemini)-?/.test(id))
      .filter(([id, tokens]) => windowOf(id) < tokens * 0.95)
      .map(([id]) => id);
    // These models charge more beyond the limit, or have several sizes under one name.
    expect(smaller).toEqual([
      'claude-opus-4-7',
      'gpt-5.4',
      'gpt-5.4-pro',
      'gpt-5.5',
      'gpt-5.5-pro',
    ]);
  });

  it.each(['', 'qwen3-coder', 'my-own', 'llamafile'])('of %j is not known', (id) => {
    expect([knownWindow(id), windowOf(id)]).toEqual([undefined, UNKNOWN_WINDOW]);
  });
});
