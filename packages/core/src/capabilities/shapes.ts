import type { CapabilityName } from '@ethosagent/types';
import type { CapabilityProblem } from './capability-module.js';

/** Why something that must be a list of strings is not one. */
export function listProblem(key: string, list: unknown): string | undefined {
  return isStringList(list) ? undefined : `${key} is not a list of strings`;
}

export function isStringList(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((item) => typeof item === 'string');
}

export function problem(capability: CapabilityName, message: string): CapabilityProblem {
  return { capability, message };
}

/** The problem of an unknown `access`. */
export function accessProblems(
  capability: CapabilityName,
  { access }: { access: string },
  known: readonly string[],
): CapabilityProblem[] {
  if (known.includes(access)) return [];
  return [problem(capability, `access ${quote(access)} is not ${known.join(' or ')}`)];
}

export function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
