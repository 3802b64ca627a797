import { EthosError } from '@ethosagent/types';
import type { AgentLoopOptions, ContextOptions } from '../api.js';
import { assertKeys } from '../options.js';
import { cacheOf } from './breakpoints.js';
import { knownWindow, UNKNOWN_WINDOW } from './model-windows.js';

/** How the context of an agent is managed, with the defaults. */
export interface ContextPlan {
  /** Tokens of the model's window. */
  window: number;
  /** Whether the window is only assumed, since nobody said which the model has. */
  isAssumed: boolean;
  /** Tokens of a prompt that leave no room for an answer any more. */
  limit: number;
  /** Tokens of a prompt from which on it is made smaller. */
  trigger: number;
  /** Turns that stay as they are. */
  keepTurns: number;
  summarise: boolean;
  /** What the provider does itself. */
  native: readonly ('clear' | 'compact')[];
  /** Tokens at which the provider does so. */
  nativeAt: number;
  /** Characters of a page of a result that is read back. */
  pageChars: number;
}

const MAX_RESERVE = 16_000;
/** About a tenth of the window in tokens, and not more than a model reads with profit. */
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
  const known = context.window ?? knownWindow(model);
  const window = known ?? UNKNOWN_WINDOW;
  const reserve =
    context.reserve ??
    Math.min(modelSettings.maxOutputTokens ?? MAX_RESERVE, Math.floor(window / 4));
  const { at = 0.8, keepTurns = 3, summarise = true, native = [] } = context;
  const all: Required<ContextOptions> = { window, reserve, at, keepTurns, summarise, native };
  assertKeys('context', context, Object.keys(all));
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
