import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { AgentLoopOptions, ContextOptions } from '../api.js';
import { cacheOf } from './breakpoints.js';
import { knownWindow, UNKNOWN_WINDOW } from './model-windows.js';

/** How the context of an agent is managed, with the defaults filled in. */
export interface ContextPlan {
  /** The model's window, in tokens. */
  window: number;
  /** Whether the window is assumed, because the model's window is not known. */
  isAssumed: boolean;
  /** A prompt of this many tokens leaves no room for an answer. */
  limit: number;
  /** A prompt of this many tokens is made smaller. */
  trigger: number;
  /** How many of the last turns stay unchanged. */
  keepTurns: number;
  summarise: boolean;
  /** What the provider does itself. */
  native: readonly ('clear' | 'compact')[];
  /** From how many tokens on the provider does so. */
  nativeAt: number;
  /** How many characters a page has when a result is read again. */
  pageChars: number;
}

const OPTIONS: OptionNames<ContextOptions> = {
  window: true,
  reserve: true,
  at: true,
  keepTurns: true,
  summarise: true,
  native: true,
};

const MAX_RESERVE = 16_000;
/** The most characters of a page. A page has about a tenth of the window's tokens. */
const MAX_PAGE_CHARS = 16_000;
const MIN_PAGE_CHARS = 200;
const NATIVE = ['clear', 'compact'] as const;

/** @throws `CONFIG_INVALID` */
export function contextPlan({
  context = {},
  model,
  modelSettings = {},
}: Pick<AgentLoopOptions, 'context' | 'model' | 'modelSettings'>): ContextPlan | undefined {
  if (context === false) return undefined;
  assertOptions('context', context, OPTIONS);
  const known = context.window ?? knownWindow(model);
  const window = known ?? UNKNOWN_WINDOW;
  const reserve =
    context.reserve ??
    Math.min(modelSettings.maxOutputTokens ?? MAX_RESERVE, Math.floor(window / 4));
  const { at = 0.8, keepTurns = 3, summarise = true, native = [] } = context;
  assert(window > 0, 'window', 'give tokens above zero');
  assert(reserve >= 0 && reserve < window, 'reserve', 'give tokens below the window');
  assert(at > 0 && at <= 1, 'at', 'give a share of the window, above 0 and up to 1');
  const isTurns = Number.isInteger(keepTurns) && keepTurns >= 0;
  assert(isTurns, 'keepTurns', 'give a whole number from zero');
  assert(typeof summarise === 'boolean', 'summarise', 'give true or false');
  const isNative = Array.isArray(native) && native.every((each) => NATIVE.includes(each));
  assert(isNative, 'native', `give a list of ${NATIVE.join(' and ')}`);
  if (native.length > 0 && cacheOf(model) !== 'anthropic') {
    throw new EthosError(
      'CONFIG_INVALID',
      'context.native works with models of Anthropic; options of other providers go into modelSettings.providerOptions',
    );
  }
  const limit = window - reserve;
  const nativeAt = Math.floor(Math.min(at * window, limit));
  const trigger = native.length > 0 ? limit : nativeAt;
  const pageChars = Math.min(MAX_PAGE_CHARS, Math.max(MIN_PAGE_CHARS, Math.floor(window * 0.4)));
  const isAssumed = known === undefined;
  return { window, isAssumed, limit, trigger, keepTurns, summarise, native, nativeAt, pageChars };
}

function assert(isFine: boolean, name: keyof ContextOptions, advice: string): void {
  if (isFine) return;
  throw new EthosError('CONFIG_INVALID', `context.${name} can't be that; ${advice}`);
}
