import type { PluginHost } from '@ethosagent/plugin-sdk';
import type { AnyTool, PersonalityConfig, ToolRegistry } from '@ethosagent/types';
import type { RuntimeMcp } from './mcp.js';
import type { PersonalityConfigs } from './personality-configs.js';
import { personalityConfigPath } from './personality-file.js';
import type { PersonalityReach } from './personality-reach.js';
import { findProblems, placeOfEntry } from './problems.js';
import type { RuntimeProblem } from './runtime-problem.js';

/** The parts of a runtime with which personalities are compared. */
export interface PersonalityProblemsParts {
  readonly home: string;
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly plugins: Pick<PluginHost, 'list'>;
  readonly personalities: Pick<PersonalityConfigs, 'partsOf' | 'reachOf'>;
  readonly mcp: () => Pick<RuntimeMcp, 'status'> | undefined;
}

interface Checked {
  readonly reach: PersonalityReach;
  readonly tools: readonly AnyTool[];
  readonly plugins: readonly string[];
  readonly problems: RuntimeProblem[];
}

/** The problems of personalities. They are looked for again when tools or plugins have changed. */
export class PersonalityProblems {
  readonly #parts: PersonalityProblemsParts;
  readonly #checked = new WeakMap<PersonalityConfig, Checked>();

  constructor(parts: PersonalityProblemsParts) {
    this.#parts = parts;
  }

  of(config: PersonalityConfig): RuntimeProblem[] {
    const { home, registry, personalities } = this.#parts;
    const tools = registry.list();
    const plugins = this.#parts.plugins.list().map(({ id }) => id);
    const reach = personalities.reachOf(config);
    const known = this.#checked.get(config);
    if (
      known?.reach === reach &&
      sameItems(known.tools, tools) &&
      sameItems(known.plugins, plugins)
    ) {
      return known.problems;
    }
    const last = personalities.partsOf(config).at(-1) ?? config;
    const file = personalityConfigPath(home, last.id);
    const found = this.inFile(config);
    const ofReach = reach.problems.map(({ key, entry, message }) => ({
      file,
      key,
      tool: entry,
      message: `${placeOfEntry(file, config, { key, entry })}: ${key}: ${message}`,
      heldBack: false,
    }));
    const problems = [...found, ...ofReach];
    this.#checked.set(config, { reach, tools, plugins, problems });
    return problems;
  }

  /** Only the problems in the text of the file, without those of where its folders lead. */
  inFile(config: PersonalityConfig): RuntimeProblem[] {
    const { home, registry, plugins, personalities, mcp } = this.#parts;
    const last = personalities.partsOf(config).at(-1) ?? config;
    const servers = mcp()?.status() ?? [];
    return findProblems(config, {
      file: personalityConfigPath(home, last.id),
      tools: registry.list(),
      plugins: plugins.list().map(({ id }) => id),
      servers: servers.map(({ server }) => server),
    });
  }

  /** Returns the withheld tools, each with the reason. */
  heldBack(config: PersonalityConfig): Map<string, string> {
    const held = this.of(config).filter(({ heldBack }) => heldBack);
    return new Map(held.map(({ tool, message }) => [tool, message]));
  }
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
