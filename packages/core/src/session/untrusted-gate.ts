import { coversTool, effectsOf, isObject, trustedTools } from '@ethosagent/policy';
import type {
  AnyTool,
  PersonalityConfig,
  ToolEffect,
  UntrustedDecision,
  UntrustedPolicy,
} from '@ethosagent/types';
import type { TurnGate } from '../turn-host.js';

const ALL_EFFECTS: readonly ToolEffect[] = ['write', 'send', 'spawn'];

const DOES: Record<ToolEffect, string> = {
  write: 'change something',
  send: 'send something out',
  spawn: 'run programs',
};

/**
 * What happens to a call once untrusted content is in the history.
 *
 * @param tool `undefined` if it is unknown: then it may have every effect
 * @param policy `safety.untrusted` of the personality; every effect is asked about if absent
 * @returns what is refused or asked, and why; `undefined` for a call that may run
 */
export function untrustedGate(
  tool: AnyTool | undefined,
  policy: UntrustedPolicy | undefined,
): TurnGate | undefined {
  const effects = tool === undefined ? ALL_EFFECTS : effectsOf(tool);
  const which = (decision: UntrustedDecision) =>
    effects
      .filter((effect) => decisionOf(policy?.[effect]) === decision)
      .map((effect) => DOES[effect]);
  const denied = which('deny');
  if (denied.length > 0) {
    return {
      refuse: `the call did not run: it could ${denied.join(' and ')}, which safety.untrusted of the personality denies once the session has read untrusted content; go on without it, and tell the user`,
    };
  }
  const asked = which('ask');
  if (asked.length === 0) return undefined;
  return {
    ask: `the session has read untrusted content, and the call could ${asked.join(' and ')}`,
  };
}

// An unknown decision is a mistake, and must not allow anything.
function decisionOf(decision: unknown): UntrustedDecision {
  return decision === 'allow' || decision === 'deny' ? decision : 'ask';
}

/**
 * Whether a personality trusts the content in the results of a tool.
 *
 * @param isTool whether there is a tool of that name; the name of a tool takes precedence over a
 * label
 */
export function isTrusted(
  { safety }: PersonalityConfig,
  name: string,
  { tool, isTool }: { tool: AnyTool | undefined; isTool: (name: string) => boolean },
): boolean {
  return coversTool(trustedTools(safety?.untrusted?.trust), { ...tool, name }, isTool);
}

const SOURCES = ['url', 'path', 'file', 'command', 'query', 'pattern', 'uri'];

/**
 * Names the source of a call's result, as far as its arguments say.
 *
 * @param name of the tool
 * @param args of the call
 * @returns a URL, a path or similar; the name of the tool if the arguments name no source
 */
export function sourceOf(name: string, args: unknown): string {
  if (!isObject(args)) return name;
  const found = SOURCES.map((key) => (Object.hasOwn(args, key) ? args[key] : undefined)).find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof found === 'string' ? found : name;
}
