import { CapabilityError, EthosError, errorCodeOf, type ProcessPolicy } from '@ethosagent/types';
import { type BaseEnvironment, baseEnvironment } from '../environment.js';
import { bubblewrapSandbox } from './bubblewrap/bubblewrap-sandbox.js';
import type { Sandbox } from './sandbox.js';

/** The policy and the machine, from which a sandbox is chosen. */
export interface SandboxChoice {
  policy: ProcessPolicy;
  /** The host's `PATH`. */
  path: string;
  /** The host's own sandbox. Bubblewrap when absent. */
  sandbox: Sandbox | undefined;
}

/**
 * Chooses the sandbox that a policy asks for.
 *
 * @param choice the policy, the `PATH`, and the sandbox; bubblewrap when absent
 * @returns the sandbox; `undefined` if the policy asks for none, or only prefers one and this
 * machine has none
 * @throws `SANDBOX_UNAVAILABLE` if the policy requires a sandbox and this machine has none
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
 * Explains why a required sandbox is missing.
 *
 * @param policy the policy of the personality
 * @param baseEnv the environment of children; its `PATH` is searched for the sandbox
 * @param sandbox the sandbox; bubblewrap when absent
 * @returns the message of `SANDBOX_UNAVAILABLE`; `undefined` if the policy can be met
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
