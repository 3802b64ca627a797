import { EthosError, type ToolRegistry, type ToolResultReducerRegistry } from '@ethosagent/types';
import type { Plugin, PluginApi } from './plugin.js';

export interface PluginHostOptions {
  registry: ToolRegistry;
  /** The registry for the reducers of plugins. Without it a plugin can't register reducers. */
  reducers?: ToolResultReducerRegistry;
  /** Called with each failure while a plugin is unloaded. The unloading goes on all the same. */
  log?: (message: string, error: unknown) => void;
}

/** A loaded plugin, as `PluginHost.list` describes it. */
export interface PluginInfo {
  id: string;
  name?: string;
  version?: string;
  /** The names of its tools, in the order in which it registered them. */
  tools: string[];
}

/** Loads and unloads plugins on one tool registry. */
export interface PluginHost {
  /**
   * Activates a plugin. If that fails, the host removes everything that the plugin registered.
   * @throws `CONFIG_INVALID` for an invalid id, an id that is already loaded, or a plugin that was
   * unloaded while it was activating; also what `activate` throws, such as `TOOL_NAME_TAKEN`
   */
  load(plugin: Plugin): Promise<void>;
  /**
   * Unloads a plugin: removes its tools, then its reducers, then runs the functions that it gave to
   * `onUnload`, the last one first, and then `deactivate`. Returns whether the plugin was loaded.
   */
  unload(id: string): Promise<boolean>;
  /** Returns the active plugins, in the order in which they were loaded. */
  list(): PluginInfo[];
}

interface LoadedPlugin {
  plugin: Plugin;
  tools: Set<string>;
  removeReducers: Array<() => void>;
  releases: Array<() => void | Promise<void>>;
  state: 'activating' | 'active' | 'unloaded';
}

const PLUGIN_ID = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/i;
const MAX_ID_CHARS = 128;

/**
 * Creates a host that loads plugins into a tool registry and unloads them again.
 *
 * @param options the tool registry, the registry of reducers, and a log
 * @returns the host
 * @throws `CONFIG_INVALID` for an invalid registry or log
 *
 * @example
 * ```ts
 * const host = createPluginHost({ registry });
 * await host.load(weatherPlugin);
 * ```
 */
export function createPluginHost(options: PluginHostOptions): PluginHost {
  assertHostOptions(options);
  const { registry, reducers, log } = options;
  const loaded = new Map<string, LoadedPlugin>();

  function apiFor(entry: LoadedPlugin): PluginApi {
    const { id } = entry.plugin;
    const assertLoaded = () => {
      if (entry.state === 'unloaded') {
        throw new EthosError('CONFIG_INVALID', `plugin ${id} is unloaded; load it again first`);
      }
    };
    return Object.freeze<PluginApi>({
      pluginId: id,
      registerTool(tool) {
        assertLoaded();
        registry.register(tool, { pluginId: id });
        entry.tools.add(tool.name);
      },
      registerReducer(reducer) {
        assertLoaded();
        if (reducers === undefined) {
          throw new EthosError(
            'CONFIG_INVALID',
            `plugin ${id} has a reducer, but the plugin host was created without \`reducers\``,
          );
        }
        entry.removeReducers.push(reducers.register(reducer));
      },
      onUnload(release) {
        assertLoaded();
        entry.releases.push(release);
      },
    });
  }

  async function takeDown(entry: LoadedPlugin): Promise<void> {
    const { id } = entry.plugin;
    const wasActive = entry.state === 'active';
    entry.state = 'unloaded';
    const attempt = async (what: string, run: () => unknown) => {
      try {
        await run();
      } catch (error) {
        log?.(`plugin ${id}: ${what} failed`, error);
      }
    };
    // Everything that others can see is removed at once, before anything is awaited.
    registry.unregisterPlugin(id);
    for (const remove of entry.removeReducers) remove();
    for (const release of entry.releases.reverse()) await attempt('a release', release);
    if (wasActive) await attempt('deactivate', () => entry.plugin.deactivate?.());
    loaded.delete(id);
  }

  return {
    async load(plugin) {
      assertPlugin(plugin);
      const { id } = plugin;
      if (loaded.has(id)) {
        throw new EthosError('CONFIG_INVALID', `plugin ${id} is loaded already; unload it first`);
      }
      const entry = newEntry(plugin);
      loaded.set(id, entry);
      try {
        await plugin.activate(apiFor(entry));
      } catch (error) {
        if (!isUnloaded(entry)) await takeDown(entry);
        throw error;
      }
      if (isUnloaded(entry)) {
        throw new EthosError('CONFIG_INVALID', `plugin ${id} was unloaded while it was activating`);
      }
      entry.state = 'active';
    },

    async unload(id) {
      const entry = loaded.get(id);
      if (entry === undefined || isUnloaded(entry)) return false;
      await takeDown(entry);
      return true;
    },

    list() {
      return [...loaded.values()]
        .filter(({ state }) => state === 'active')
        .map(({ plugin: { id, name, version }, tools }) => ({
          id,
          ...(name !== undefined && { name }),
          ...(version !== undefined && { version }),
          tools: [...tools],
        }));
    },
  };
}

function newEntry(plugin: Plugin): LoadedPlugin {
  return { plugin, tools: new Set(), removeReducers: [], releases: [], state: 'activating' };
}

function isUnloaded(entry: LoadedPlugin): boolean {
  return entry.state === 'unloaded';
}

/** Plain JavaScript may pass anything. @throws `CONFIG_INVALID` */
function assertHostOptions(options: unknown): void {
  const { registry, reducers, log }: Partial<PluginHostOptions> = Object(options);
  const problem =
    typeof Object(registry).register !== 'function'
      ? 'registry must be a registry of tools, such as new DefaultToolRegistry()'
      : reducers !== undefined && typeof Object(reducers).register !== 'function'
        ? 'reducers must be a registry of reducers; or leave it out'
        : log !== undefined && typeof log !== 'function'
          ? 'log must be a function'
          : undefined;
  if (problem !== undefined) {
    throw new EthosError('CONFIG_INVALID', `createPluginHost: ${problem}`);
  }
}

/** Plain JavaScript may pass anything. @throws `CONFIG_INVALID` */
function assertPlugin(plugin: unknown): void {
  const { id, activate }: { id?: unknown; activate?: unknown } = Object(plugin);
  if (id === undefined || typeof activate !== 'function') {
    const found = typeof plugin === 'string' ? `the text ${JSON.stringify(plugin)}` : 'a value';
    throw new EthosError(
      'CONFIG_INVALID',
      `${found} is no plugin with \`id\` and \`activate\`; import the package, as in pluginOf('@acme/greetings', await import('@acme/greetings'))`,
    );
  }
  if (typeof id === 'string' && id.length <= MAX_ID_CHARS && PLUGIN_ID.test(id)) return;
  throw new EthosError(
    'CONFIG_INVALID',
    `${JSON.stringify(id)?.slice(0, MAX_ID_CHARS)} is no plugin id; use a name as npm packages have it`,
  );
}
