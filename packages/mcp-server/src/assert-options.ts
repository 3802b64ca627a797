import { assertNumbers, MAX_TIMER_MS } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { McpServeOptions, ServedRuntime } from './served-runtime.js';

/** Refuses an invalid limit, since it would have no effect. @throws `CONFIG_INVALID` */
export function assertLimits(
  limits: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (!known.includes(name)) {
      throw invalid(`${name} is no limit; there are ${known.join(', ')}`);
    }
    const max = name.endsWith('Ms') ? MAX_TIMER_MS : Number.POSITIVE_INFINITY;
    assertNumbers(
      '',
      { [name]: limit },
      {
        wanted: `a number above zero, up to ${max}`,
        fits: (value) => value > 0 && value <= max,
      },
    );
  }
}

/** A promise of a runtime is none. @throws `CONFIG_INVALID` */
export function assertRuntime(of: string, runtime: ServedRuntime): void {
  if (typeof Object(runtime).personality === 'function') return;
  throw invalid(`${of}: the runtime is none; give one of createToolRuntime, after await`);
}

/** @throws `CONFIG_INVALID` */
export function assertServeOptions(options: McpServeOptions): void {
  const { approvals = 'client', approvalTimeoutMs, toolsCheckMs, maxCallsAtOnce } = options;
  const limits = { approvalTimeoutMs, toolsCheckMs, maxCallsAtOnce };
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  assertLimits(Object.fromEntries(given), Object.keys(limits));
  if (approvals === 'client' || approvals === 'session') return;
  throw invalid(`approvals is ${JSON.stringify(approvals)}; give client or session`);
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}
