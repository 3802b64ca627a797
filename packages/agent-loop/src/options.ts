import {
  ABOVE_ZERO,
  assertNumbers,
  assertOptions,
  MAX_TIMER_MS,
  type OptionNames,
} from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { AgentLimits, AgentLoopOptions, AgentRetries, TokenPrices } from './api.js';

/** The limits with their defaults. */
export interface TurnLimits {
  maxSteps: number;
  maxCalls: number;
  maxIdenticalCalls: number;
  maxTokens: number;
  maxCostUsd: number;
  maxMs: number;
  graceMs: number;
  resultBudgetChars: number;
}

export interface RetryPlan {
  maxRetries: number;
  firstDelayMs: number;
  maxDelayMs: number;
  idleMs: number;
}

const PRICES: OptionNames<TokenPrices> = {
  input: true,
  output: true,
  cachedInput: true,
  cacheWrite: true,
};

/** @throws `CONFIG_INVALID` for a limit that is not above zero, or for a negative price */
export function turnLimits(
  limits: AgentLimits = {},
  prices?: AgentLoopOptions['prices'],
): TurnLimits {
  const {
    maxSteps = 50,
    maxCalls = 200,
    maxIdenticalCalls = 5,
    maxTokens = Number.POSITIVE_INFINITY,
    maxCostUsd = Number.POSITIVE_INFINITY,
    maxMs = 30 * 60_000,
    graceMs = 2_000,
    resultBudgetChars = 80_000,
  } = limits;
  const all = {
    maxSteps,
    maxCalls,
    maxIdenticalCalls,
    maxTokens,
    maxCostUsd,
    maxMs,
    graceMs,
    resultBudgetChars,
  };
  assertOptions('limits', limits, all);
  assertNumbers('limits.', all, ABOVE_ZERO);
  assertNumbers('prices.', pricesOf(prices), {
    wanted: 'US dollars from zero',
    fits: (price) => Number.isFinite(price) && price >= 0,
  });
  if (Number.isFinite(maxCostUsd) && prices === undefined) {
    throw new EthosError(
      'CONFIG_INVALID',
      'limits.maxCostUsd needs prices, or the cost of the model would not count',
    );
  }
  return {
    ...all,
    maxMs: Math.min(maxMs, MAX_TIMER_MS),
    graceMs: Math.min(graceMs, MAX_TIMER_MS),
  };
}

function pricesOf(prices: AgentLoopOptions['prices']): object {
  if (prices === undefined) return {};
  assertOptions('prices', prices, PRICES);
  const { input, output, cachedInput, cacheWrite } = prices;
  return {
    input,
    output,
    ...(cachedInput !== undefined && { cachedInput }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** @throws `CONFIG_INVALID` */
export function retryPlan(retries: AgentRetries = {}): RetryPlan {
  const { maxRetries = 4, firstDelayMs = 1_000, maxDelayMs = 60_000, idleMs = 300_000 } = retries;
  const all = { maxRetries, firstDelayMs, maxDelayMs, idleMs };
  assertOptions('retries', retries, all);
  assertNumbers('retries.', all, { wanted: 'a number from zero', fits: (value) => value >= 0 });
  return { ...all, idleMs: Math.min(Math.max(idleMs, 1), MAX_TIMER_MS) };
}
