import { isDeepStrictEqual } from 'node:util';
import { errorText } from '@ethosagent/policy';
import type { AnyTool } from '@ethosagent/types';
import type { PolicyAtOnce } from './personality-policy.js';
import { copyPlain, deepFreeze } from './plain.js';

/** The settings of a call, or why they are invalid. */
export type ResolvedSettings =
  | {
      ok: true;
      settings: unknown;
      /** The plain data that they were parsed from. */
      said: unknown;
    }
  | { ok: false; error: string; thrown?: { readonly error: unknown } };

const NOTHING: object = Object.freeze({});

/** The settings of one tool. They are parsed once for all personalities that say the same. */
export class SettingsPlan {
  readonly #toolName: string;
  readonly #key: string;
  readonly #parse: NonNullable<AnyTool['settings']>['parse'];
  readonly #parsed = new WeakMap<object, ResolvedSettings>();

  constructor({ name, settingsKey = name }: AnyTool, { parse }: NonNullable<AnyTool['settings']>) {
    this.#toolName = name;
    this.#key = settingsKey;
    this.#parse = parse;
  }

  resolve(policy: PolicyAtOnce): ResolvedSettings {
    try {
      const value = policy.settings(this.#key) ?? NOTHING;
      const known = typeof value === 'object' ? this.#parsed.get(value) : undefined;
      if (known !== undefined) return known;
      // A copy: the tool must not change the host's object, and we must not freeze it.
      const copy = copyPlain(value);
      if (!copy.ok) return this.#refuse(`tool_settings.${this.#key}${copy.problem}`);
      const parsed = this.#parse(copy.value);
      if (!parsed.ok) {
        const [issue] = parsed.issues;
        const where = [this.#key, ...(issue?.path ?? [])].join('.');
        return this.#refuse(`tool_settings.${where}: ${issue?.message ?? 'wrong'}`);
      }
      return this.#keep(value, copy.value, parsed.settings);
    } catch (error) {
      return { ...this.#refuse(errorText(error)), thrown: { error } };
    }
  }

  /**
   * Calls share settings that are plain data, frozen. Other results of a schema are created again
   * for each call.
   */
  #keep(value: unknown, said: unknown, settings: unknown): ResolvedSettings {
    const plain = copyPlain(settings);
    if (!plain.ok || !isDeepStrictEqual(plain.value, settings)) {
      return { ok: true, settings, said };
    }
    const resolved: ResolvedSettings = { ok: true, settings: deepFreeze(plain.value), said };
    // Data that may still change is parsed for every call.
    if (typeof value === 'object' && value !== null && isDeeplyFrozen(value)) {
      this.#parsed.set(value, resolved);
    }
    return resolved;
  }

  #refuse(problem: string): ResolvedSettings & { ok: false } {
    return {
      ok: false,
      error: `${this.#toolName} is not available: its settings in this personality are wrong (${problem}); ask the operator to fix them`,
    };
  }
}

/**
 * Whether two personalities have the same settings. A schema may return a new object each time, so
 * the data before it is compared.
 */
export function saysTheSame(
  a: ResolvedSettings | undefined,
  b: ResolvedSettings | undefined,
): boolean {
  if (a?.ok === true && b?.ok === true) return isDeepStrictEqual(a.said, b.said);
  return isDeepStrictEqual(a, b);
}

function isDeeplyFrozen(value: object): boolean {
  return (
    Object.isFrozen(value) &&
    Object.values(Object.getOwnPropertyDescriptors(value)).every(
      ({ get, value: child }) =>
        get === undefined && (typeof child !== 'object' || child === null || isDeeplyFrozen(child)),
    )
  );
}
