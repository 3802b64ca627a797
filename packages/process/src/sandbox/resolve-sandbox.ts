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

/** Why a sandbox that a policy requires is missing, or `undefined`. */
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
