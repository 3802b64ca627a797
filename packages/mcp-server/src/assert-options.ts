import { randomUUID } from 'node:crypto';
import { assertIdentity, type SessionIdentity } from '@ethosagent/core';
import {
  assertNumbers,
  isFunction,
  isListOf,
  isObject,
  isString,
  MAX_TIMER_MS,
  type OptionValues,
  wrongOption,
} from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { McpServeOptions, McpSessionSettings, ServedRuntime } from './served-runtime.js';

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

const TEXT = [isString, 'a text'] as const;
const FUNCTION = [isFunction, 'a function'] as const;
const TEXTS = [isListOf(isString), 'a list of texts'] as const;
const OBJECT = [isObject, 'an object'] as const;

const VALUES: OptionValues<Record<string, unknown>> = {
  name: TEXT,
  version: TEXT,
  instructions: TEXT,
  onWaiting: FUNCTION,
  onSession: FUNCTION,
  clients: OBJECT,
  limits: OBJECT,
  host: [(host) => isString(host) && host.trim() !== '', 'an address, such as 127.0.0.1'],
  path: [(path) => isString(path) && path.startsWith('/'), 'a text that begins with /'],
  allowedHosts: TEXTS,
  allowedOrigins: TEXTS,
};

/** The options of a server, and those of a server over HTTP. @throws `CONFIG_INVALID` */
export function assertServeOptions(options: McpServeOptions): void {
  const problem = wrongOption({ ...options }, VALUES);
  if (problem !== undefined) throw invalid(problem);
  const { approvals = 'client', approvalTimeoutMs, toolsCheckMs, maxCallsAtOnce } = options;
  const limits = { approvalTimeoutMs, toolsCheckMs, maxCallsAtOnce };
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  assertLimits(Object.fromEntries(given), Object.keys(limits));
  if (approvals === 'client' || approvals === 'session') return;
  throw invalid(`approvals is ${JSON.stringify(approvals)}; give client or session`);
}

/**
 * Returns the settings of a client's sessions. They are checked here, when the server starts: a
 * client would only learn that its session can't begin.
 *
 * @param given as the host gave them
 * @param identity what holds where the host says nothing else
 * @throws `CONFIG_INVALID`
 */
export async function sessionSettings(
  runtime: ServedRuntime,
  { personality, identity: given, limits }: McpSessionSettings,
  identity: SessionIdentity,
): Promise<McpSessionSettings> {
  if (given !== undefined) assertIdentity(given);
  await runtime.personality(personality);
  const settings = {
    identity: { ...identity, ...given },
    ...(personality !== undefined && { personality }),
    ...(limits !== undefined && { limits }),
  };
  // Nothing begins in it.
  runtime.session(`mcp-${randomUUID()}`, settings);
  return settings;
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}
