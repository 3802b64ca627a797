import { EthosError } from '@ethosagent/types';
import type { EthosPlugin, Plugin } from './plugin.js';

/**
 * Returns the plugin that a package exports as its default, also from a CommonJS package. A plugin
 * without an id gets the name of its package.
 *
 * @param packageName the name in the `package.json` of the package
 * @param module the result of `await import(packageName)`
 * @returns the plugin, with its id
 * @throws `CONFIG_INVALID` when the default export is not a plugin
 * @example
 * ```ts
 * await host.load(pluginOf('@acme/greetings', await import('@acme/greetings')));
 * ```
 */
export function pluginOf(packageName: string, module: object): Plugin {
  for (let found: unknown = module, depth = 0; depth < 3; depth++) {
    if (isPlugin(found)) return withId(found, packageName);
    found = Object(found).default;
  }
  throw new EthosError(
    'CONFIG_INVALID',
    `${packageName} is no plugin: its default export has no activate function; export default definePlugin({ … })`,
  );
}

function isPlugin(value: unknown): value is EthosPlugin {
  return (
    typeof value === 'object' && value !== null && typeof Object(value).activate === 'function'
  );
}

function withId(plugin: EthosPlugin, id: string): Plugin {
  if (plugin.id !== undefined) return { ...bound(plugin), id: plugin.id };
  return { ...bound(plugin), id };
}

/** Binds the methods to the plugin, which may be an instance of a class. */
function bound(plugin: EthosPlugin): EthosPlugin {
  const { name, version, deactivate } = plugin;
  return {
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    activate: (api) => plugin.activate(api),
    ...(deactivate !== undefined && { deactivate: () => plugin.deactivate?.() }),
  };
}
