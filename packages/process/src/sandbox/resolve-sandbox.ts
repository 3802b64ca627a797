import { CapabilityError, EthosError, errorCodeOf, type ProcessPolicy } from '@ethosagent/types';
import { type BaseEnvironment, baseEnvironment } from '../environment.js';
import { bubblewrapSandbox } from './bubblewrap/bubblewrap-sandbox.js';
import type { Sandbox } from './sandbox.js';

/** What a sandbox is chosen by. */
export interface SandboxChoice {
  policy: ProcessPolicy;
  /** The host's `PATH`. */
  path: string;
  /** The host's own sandbox. Bubblewrap when absent. */
  sandbox: Sandbox | undefined;
}

/**
 * The sandbox that a policy asks for; `undefined` where it asks for none, or prefers one and this
 * machine has none.
 *
 * @param choice the policy, the `PATH`, and the sandbox; bubblewrap when absent
 * @returns the sandbox to start processes in
 * @throws `SANDBOX_UNAVAILABLE` where one is required and missing
 */
export async function resolveSandbox({
  policy,
  path,
  sandbox = bubblewrapSandbox,
}: SandboxChoice): Promise<Sandbox | undefined> {
  if (policy.sandbox === undefined || policy.sandbox === false) return undefined;
  if (await sandbox.isAvailable(path)) return sandbox;
  if (policy.sandbox === 'preferred') return undefined;
  throw new CapabilityError(
    'SANDBOX_UNAVAILABLE',
    `processes must run in a sandbox, and this machine has none that works; ask the operator to ${sandbox.remedy}`,
    'sandbox required',
  );
}

/**
 * Why a sandbox that a policy requires is missing.
 *
 * @param policy of the personality
 * @param baseEnv has the `PATH` on which the sandbox is looked for
 * @param sandbox bubblewrap when absent
 * @returns the message of `SANDBOX_UNAVAILABLE`, or `undefined`
 */
export async function missingSandbox(
  policy: ProcessPolicy,
  baseEnv: BaseEnvironment | undefined,
  sandbox?: Sandbox,
): Promise<string | undefined> {
  try {
    await resolveSandbox({ policy, path: baseEnvironment(baseEnv).PATH ?? '', sandbox });
    return undefined;
  } catch (error) {
    if (error instanceof EthosError && errorCodeOf(error) === 'SANDBOX_UNAVAILABLE') {
      return error.message;
    }
    throw error;
  }
}
