import { errorText } from '@ethosagent/policy';
import { CapabilityError, errorCodeOf, type ProcessPolicy } from '@ethosagent/types';
import { type BaseEnvironment, baseEnvironment } from '../environment.js';
import { loadOnce } from '../load-once.js';
import type { Sandbox } from './bubblewrap/bubblewrap.js';

/** What makes sandboxes. */
export const loadSandbox = loadOnce(() => import('./bubblewrap/bubblewrap.js'));

/**
 * The sandbox that a policy asks for; `undefined` where it asks for none, or prefers one and this
 * machine has none.
 *
 * @param path the host's `PATH`
 * @throws `SANDBOX_UNAVAILABLE` where one is required and missing
 */
export async function sandboxFor(
  { sandbox }: ProcessPolicy,
  path: string,
): Promise<Sandbox | undefined> {
  if (sandbox === undefined || sandbox === false) return undefined;
  const { findSandbox } = await loadSandbox();
  const found = findSandbox(path);
  if (found === undefined && sandbox !== 'preferred') {
    throw new CapabilityError(
      'SANDBOX_UNAVAILABLE',
      'processes must run in a sandbox, and this machine has none that works; ask the operator to install bubblewrap and to permit user namespaces',
      'sandbox required',
    );
  }
  return found;
}

/** Why a sandbox that a policy requires is missing, or `undefined`. */
export async function missingSandbox(
  policy: ProcessPolicy,
  baseEnv: BaseEnvironment | undefined,
): Promise<string | undefined> {
  try {
    await sandboxFor(policy, baseEnvironment(baseEnv).PATH ?? '');
    return undefined;
  } catch (error) {
    if (errorCodeOf(error) === 'SANDBOX_UNAVAILABLE') return errorText(error);
    throw error;
  }
}
