import type { AnyTool, ToolResultReducer } from '@ethosagent/types';

/** What a plugin is given to add to the host. Dead once the plugin is unloaded. */
export interface PluginApi {
  readonly pluginId: string;
  /**
   * Adds a tool that the plugin owns; registering one's own name again replaces it.
   * @throws `TOOL_NAME_TAKEN`, `TOOL_INVALID`, or `CONFIG_INVALID` once the plugin is unloaded
   */
  registerTool(tool: AnyTool): void;
  /**
   * Adds a reducer for the results of one tool.
   * @throws `REDUCER_NAME_TAKEN`, or `CONFIG_INVALID` once the plugin is unloaded or when the host
   * has no registry of reducers
   */
  registerReducer(reducer: ToolResultReducer): void;
  /**
   * Runs `release` when the plugin is unloaded, and when its activation fails; the last one given
   * runs first.
   * @throws `CONFIG_INVALID` once the plugin is unloaded
   */
  onUnload(release: () => void | Promise<void>): void;
}

/** Tools and reducers that come and go together. */
export interface Plugin {
  /**
   * Who owns what the plugin registers; personalities name it in `plugins`. A name as npm packages
   * have it, 128 characters at most.
   */
  readonly id: string;
  /** For people. */
  readonly name?: string;
  readonly version?: string;
  /** Registers everything. What it throws undoes all of it. */
  activate(api: PluginApi): void | Promise<void>;
  /** Runs last when an active plugin is unloaded. */
  deactivate?(): void | Promise<void>;
}

/** A plugin as a package exports it: `pluginOf` gives one without an id the package's name. */
export type EthosPlugin = Omit<Plugin, 'id'> & Partial<Pick<Plugin, 'id'>>;

/** The same as `PluginApi`. */
export type EthosPluginApi = PluginApi;

/**
 * Types a plugin where it is written.
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
