import type { AnyTool, ToolResultReducer } from '@ethosagent/types';

/** Adds tools and reducers to the host. A plugin can use it until it is unloaded. */
export interface PluginApi {
  readonly pluginId: string;
  /**
   * Adds a tool that the plugin owns. A tool of this plugin with the same name is replaced.
   * @throws `TOOL_NAME_TAKEN` if another owner has a tool with this name, `TOOL_INVALID` for a tool
   * that the registry refuses, `CONFIG_INVALID` once the plugin is unloaded
   */
  registerTool(tool: AnyTool): void;
  /**
   * Adds a reducer for the results of one tool.
   * @throws `REDUCER_NAME_TAKEN` if the tool has a reducer already, `CONFIG_INVALID` once the
   * plugin is unloaded or if the host has no registry of reducers
   */
  registerReducer(reducer: ToolResultReducer): void;
  /**
   * Runs `release` when the plugin is unloaded, or when its activation fails. Of several, the last
   * one runs first.
   * @throws `CONFIG_INVALID` once the plugin is unloaded
   */
  onUnload(release: () => void | Promise<void>): void;
}

/** Tools and reducers that a host loads and unloads together. */
export interface Plugin {
  /**
   * The owner of everything that the plugin registers; personalities name it in `plugins`. It has
   * the form of an npm package name, with at most 128 characters.
   */
  readonly id: string;
  /** The name that people read. */
  readonly name?: string;
  readonly version?: string;
  /** Registers everything. If it throws, the host removes all that it registered. */
  activate(api: PluginApi): void | Promise<void>;
  /** Runs as the last step when an active plugin is unloaded. */
  deactivate?(): void | Promise<void>;
}

/** A plugin as a package exports it. If it has no id, `pluginOf` uses the name of the package. */
export type EthosPlugin = Omit<Plugin, 'id'> & Partial<Pick<Plugin, 'id'>>;

/** The same as `PluginApi`. */
export type EthosPluginApi = PluginApi;

/**
 * Returns the plugin unchanged, so that the compiler checks it where you write it.
 *
 * @param plugin its id and its functions
 * @returns the same object
 * @example
 * ```ts
 * export default definePlugin({
 *   id: 'weather',
 *   activate(api) {
 *     api.registerTool(weatherTool);
 *   },
 * });
 * ```
 */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin;
}
