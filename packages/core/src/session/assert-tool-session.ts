import { EthosError } from '@ethosagent/types';
import type { ToolSession } from './session-api.js';

/** What a runtime does not have: it has `definitions` and `execute` too. */
const OF_SESSIONS = ['definitions', 'execute', 'pending', 'decide', 'resume'] as const;

/**
 * Refuses what is no session, such as the runtime, or a promise of it.
 *
 * @param of what takes the session, for the message
 * @param session as the caller gave it
 * @param needed its methods that are called, if those are few
 * @throws `CONFIG_INVALID`
 */
export function assertToolSession(
  of: string,
  session: Partial<ToolSession>,
  needed: readonly (keyof ToolSession)[] = OF_SESSIONS,
): void {
  const given = Object(session);
  if (needed.every((name) => typeof given[name] === 'function')) return;
  throw new EthosError(
    'CONFIG_INVALID',
    `${of}: give a session of a runtime, such as runtime.session('first')`,
  );
}
