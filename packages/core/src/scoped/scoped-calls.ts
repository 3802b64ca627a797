import { nearestName, shorten } from '@ethosagent/policy';
import { CapabilityError, type ScopedCalls, type ToolResult } from '@ethosagent/types';
import { type AccessAsked, type AccessScope, recordAccess, textOf } from '../access.js';
import type { CallOfTool } from '../turn-host.js';

export interface ScopedCallsOptions {
  /** Absent when nobody runs calls for tools. */
  call: CallOfTool | undefined;
  /** The names of the tools that may be called. */
  tools: readonly string[];
  scope: AccessScope | undefined;
}

const MAX_TARGET_CHARS = 200;

/** Calls of other tools, for one call. */
export class ScopedCallsImpl implements ScopedCalls {
  readonly tools: readonly string[];
  readonly #call: CallOfTool | undefined;
  readonly #scope: AccessScope | undefined;
  readonly #allowed: ReadonlySet<string>;

  constructor({ call, tools, scope }: ScopedCallsOptions) {
    this.#call = call;
    this.#scope = scope;
    this.#allowed = new Set(tools);
    this.tools = Object.freeze([...tools]);
  }

  call(name: string, args: unknown, opts: { signal?: AbortSignal } = {}): Promise<ToolResult> {
    const text = textOf(name);
    // Half a secret would not be found any more.
    const shown = shorten(this.#scope?.redactor?.redact(text) ?? text, MAX_TARGET_CHARS);
    const access: AccessAsked = {
      capability: 'calls',
      operation: 'call',
      target: shown,
      rule: 'named in calls.tools',
    };
    return recordAccess(this.#scope, access, async (allow) => {
      const call = this.#call;
      const scope = this.#scope;
      if (call === undefined || scope === undefined) throw nobodyCalls(shown);
      if (!this.#allowed.has(name)) throw notCallable(shown, this.tools);
      allow();
      const { signal: own } = opts;
      const signal = own === undefined ? scope.signal : AbortSignal.any([scope.signal, own]);
      const hasReadStored = scope.taint?.hasReadStored === true;
      const { redactor: secrets } = scope;
      const { result, isUntrusted } = await call({ name, args, hasReadStored, secrets }, signal);
      if (isUntrusted) scope.taint?.noteCalled();
      // This call does not know what the other call read it from.
      scope.taint?.sources?.noteKept(undefined);
      return result;
    });
  }
}

function nobodyCalls(shown: string): CapabilityError {
  return new CapabilityError(
    'TOOL_NOT_CALLABLE',
    `${shown} can not be called from here: calls of a tool are run in a session, and not within other calls; call it by itself`,
    'no calls outside a session or within another call',
  );
}

function notCallable(shown: string, tools: readonly string[]): CapabilityError {
  const near = nearestName(shown, tools);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const which = tools.length === 0 ? 'it may call none' : `it may call ${tools.join(', ')}`;
  return new CapabilityError(
    'TOOL_NOT_CALLABLE',
    `${shown} is not a tool that this call may call: ${which}${hint}`,
    'not named in calls.tools',
  );
}
