import { DEFAULT_PROCESS_LIMITS, PROCESS_LIMITS } from '@ethosagent/policy';
import type { ProcessLimits } from '@ethosagent/types';

/**
 * Returns the limits of one process: those of the operator, or the defaults. A call can lower a
 * limit, and never raise it. A malformed limit changes nothing.
 *
 * @param policy the limits of the personality
 * @param call the limits that the call asks for
 * @returns a value for each limit that applies
 */
export function resolveLimits(
  policy: ProcessLimits | undefined,
  call: ProcessLimits | undefined,
): ProcessLimits {
  const limits: ProcessLimits = { ...DEFAULT_PROCESS_LIMITS, ...policy };
  for (const name of PROCESS_LIMITS) {
    const asked = limitOf(call, name);
    if (asked !== undefined) limits[name] = Math.min(asked, limits[name] ?? asked);
  }
  return limits;
}

/**
 * Whether the personality or the call limits the number of processes.
 *
 * @param policy the limits of the personality
 * @param call the limits that the call asks for
 */
export function isProcessLimitSet(
  policy: ProcessLimits | undefined,
  call: ProcessLimits | undefined,
): boolean {
  return policy?.processes !== undefined || limitOf(call, 'processes') !== undefined;
}

/** The limit that a call asks for, if it is a valid limit. */
function limitOf(limits: ProcessLimits | undefined, name: keyof ProcessLimits): number | undefined {
  const asked: unknown = limits?.[name];
  return typeof asked === 'number' && asked >= 0 ? asked : undefined;
}
