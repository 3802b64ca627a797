import type { AgentUsage, TokenPrices } from './api.js';

/** The tokens of an answer, as far as the provider counted them. */
export interface ReportedUsage {
  /** All of the input, with what the provider read from its cache and wrote to it. */
  inputTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
  outputTokens?: number | undefined;
}

export const NO_USAGE: AgentUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

/** A rough average, for providers that do not count tokens. */
const CHARS_PER_TOKEN = 4;

export function addUsage(a: AgentUsage, b: AgentUsage): AgentUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
    ...cacheWrites((a.cacheWriteInputTokens ?? 0) + (b.cacheWriteInputTokens ?? 0)),
  };
}

/**
 * Returns what a model call used. If the provider does not report it, it is estimated from the
 * characters: otherwise the limits would silently not apply.
 */
export function usageOf(
  usage: ReportedUsage | undefined,
  charsOf: () => { input: number; output: number },
  prices: TokenPrices | undefined,
): AgentUsage {
  const estimate = (way: 'input' | 'output') => Math.ceil(charsOf()[way] / CHARS_PER_TOKEN);
  const inputTokens = count(usage?.inputTokens) ?? estimate('input');
  const outputTokens = count(usage?.outputTokens) ?? estimate('output');
  const cached = count(usage?.cacheReadTokens) ?? 0;
  const cachedInputTokens = Math.min(cached, inputTokens);
  const written = count(usage?.cacheWriteTokens) ?? 0;
  const counted = {
    inputTokens,
    cachedInputTokens,
    outputTokens,
    ...cacheWrites(Math.min(written, inputTokens - cachedInputTokens)),
  };
  return { ...counted, costUsd: prices === undefined ? 0 : cost(counted, prices) };
}

/** Absent if a provider caches nothing, or does not report it. */
function cacheWrites(tokens: number): Pick<AgentUsage, 'cacheWriteInputTokens'> {
  return tokens > 0 ? { cacheWriteInputTokens: tokens } : {};
}

function cost(usage: Omit<AgentUsage, 'costUsd'>, prices: TokenPrices): number {
  const { input, output, cachedInput = input, cacheWrite = input } = prices;
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens = 0, outputTokens } = usage;
  const fresh = inputTokens - cachedInputTokens - cacheWriteInputTokens;
  return (
    (fresh * input +
      cachedInputTokens * cachedInput +
      cacheWriteInputTokens * cacheWrite +
      outputTokens * output) /
    1_000_000
  );
}

function count(tokens: number | undefined): number | undefined {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}
