import type { AnyTool } from '@ethosagent/types';
import type { CapabilityBackends } from './backends.js';
import { deepFreeze } from './plain.js';
import { personalityToolSettings } from './policy-sources.js';
import { errorText } from './results/error-text.js';

/** The settings of a call, or why there are none. */
export type ResolvedSettings = { ok: true; settings: unknown } | { ok: false; error: string };

const NOTHING: object = Object.freeze({});

/** What operators set for one tool, parsed once for each personality that says the same. */
export class SettingsPlan {
  readonly #toolName: string;
  readonly #parse: NonNullable<AnyTool['settings']>['parse'];
  readonly #backends: CapabilityBackends;
  readonly #parsed = new WeakMap<object, ResolvedSettings>();

  constructor(
    toolName: string,
    { parse }: NonNullable<AnyTool['settings']>,
    backends: CapabilityBackends,
  ) {
    this.#toolName = toolName;
    this.#parse = parse;
    this.#backends = backends;
  }

  resolve(personalityId: string | undefined): ResolvedSettings {
    const value = personalityToolSettings(this.#backends, personalityId, this.#toolName) ?? NOTHING;
    // What may yet change is parsed for every call.
    if (typeof value !== 'object' || !Object.isFrozen(value)) return this.#resolve(value);
    let known = this.#parsed.get(value);
    if (known === undefined) {
      known = this.#resolve(value);
      this.#parsed.set(value, known);
    }
    return known;
  }

  #resolve(value: unknown): ResolvedSettings {
    try {
      const parsed = this.#parse(value);
      if (parsed.ok) {
        deepFreeze(parsed.settings);
        return { ok: true, settings: parsed.settings };
      }
      const [issue] = parsed.issues;
      const where = [this.#toolName, ...(issue?.path ?? [])].join('.');
      return this.#refuse(`tool_settings.${where}: ${issue?.message ?? 'wrong'}`);
    } catch (error) {
      return this.#refuse(errorText(error));
    }
  }

  #refuse(problem: string): ResolvedSettings {
    return {
      ok: false,
      error: `${this.#toolName} is not available: its settings in this personality are wrong (${problem}); ask the operator to mend them`,
    };
  }
}
