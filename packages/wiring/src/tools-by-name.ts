import { errorText, nearestName } from '@ethosagent/policy';
import {
  type AnyTool,
  EthosError,
  type PersonalityConfig,
  type ToolResultReducer,
} from '@ethosagent/types';
import { EXTENSION_TOOLS, type ExtensionPackage } from './extension-tools.js';
import { importOptional } from './optional-packages.js';

/** The tools of an extension, and the reducers that shorten their results. */
interface Extension {
  tools: readonly AnyTool[];
  reducers?: readonly ToolResultReducer[];
}

/** Each is loaded when one of its tools is needed. */
const LOADERS: Record<ExtensionPackage, () => Promise<Extension>> = {
  '@ethosagent/tools-file': async () => ({
    tools: (await importOptional('@ethosagent/tools-file')).createFileTools(),
  }),
  '@ethosagent/tools-terminal': async () => {
    const { createTerminalTools, terminalReducer } = await importOptional(
      '@ethosagent/tools-terminal',
    );
    return { tools: createTerminalTools(), reducers: [terminalReducer] };
  },
  '@ethosagent/tools-code': async () => ({
    tools: (await importOptional('@ethosagent/tools-code')).createCodeTools(),
  }),
  '@ethosagent/tools-web': async () => ({
    tools: (await importOptional('@ethosagent/tools-web')).createWebTools(),
  }),
  '@ethosagent/tools-memory': async () => ({
    tools: (await importOptional('@ethosagent/tools-memory')).createMemoryTools(),
  }),
  '@ethosagent/tools-todo': async () => ({
    tools: (await importOptional('@ethosagent/tools-todo')).createTodoTools(),
  }),
  '@ethosagent/tools-delegation': async () => ({
    tools: (await importOptional('@ethosagent/tools-delegation')).createDelegationTools(),
  }),
  '@ethosagent/tools-browser': async () => ({
    tools: (await importOptional('@ethosagent/tools-browser')).createBrowserTools(),
  }),
};

interface NamedExtension {
  package: ExtensionPackage;
  group: string;
  tools: readonly string[];
}

const isPackage = (name: string): name is ExtensionPackage => Object.hasOwn(LOADERS, name);

const EXTENSIONS: readonly NamedExtension[] = Object.keys(LOADERS)
  .filter(isPackage)
  .map((name) => ({ package: name, ...EXTENSION_TOOLS[name] }));

/**
 * Finds the package of this project that has a tool.
 *
 * @param name the name of the tool
 * @returns the name of the package; `undefined` for an unknown tool
 */
export function packageOfTool(name: string): string | undefined {
  return EXTENSIONS.find(({ tools }) => tools.includes(name))?.package;
}

/** The tools to register, with the reducers of those that were named. */
export interface PickedTools {
  tools: AnyTool[];
  reducers: ToolResultReducer[];
}

/**
 * Lists the names of all tools in the installed extensions of this project. Loads no extension.
 *
 * @param personalities limits the answer to the extensions that these name. The answer is not
 * limited if one of them allows every tool, or names something that no extension has
 * @returns the names
 */
export function installedTools(
  personalities?: readonly Pick<PersonalityConfig, 'toolset' | 'tool_settings'>[],
): string[] {
  const installed = EXTENSIONS.filter((extension) => isInstalled(extension.package));
  const needed = personalities && extensionsOf(personalities);
  return installed
    .filter((extension) => needed?.includes(extension) ?? true)
    .flatMap(({ tools }) => tools);
}

/** The extensions of the named tools and groups; `undefined` if all may be needed. */
function extensionsOf(
  personalities: readonly Pick<PersonalityConfig, 'toolset' | 'tool_settings'>[],
): NamedExtension[] | undefined {
  const needed: NamedExtension[] = [];
  for (const { toolset, tool_settings = {} } of personalities) {
    if (toolset === undefined) return undefined;
    for (const entry of [...toolset, ...Object.keys(tool_settings)]) {
      const named = EXTENSIONS.filter(
        ({ group, tools }) => group === entry || tools.includes(entry),
      );
      // The name may be misspelt. To suggest the right one, the names of all tools are needed.
      if (named.length === 0) return undefined;
      needed.push(...named);
    }
  }
  return needed;
}

function isInstalled(name: ExtensionPackage): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

function isTool(value: unknown): value is AnyTool {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Replaces names by tools.
 *
 * @throws `CONFIG_INVALID` for a name that no extension has, and for an extension that is not
 * installed; `TOOL_NAME_TAKEN` for two tools of one name
 */
export async function pickTools(picked: readonly (AnyTool | string)[]): Promise<PickedTools> {
  if (!Array.isArray(picked)) {
    throw new EthosError('CONFIG_INVALID', 'tools: expected a list of tools and names of tools');
  }
  const loaded = new Map<string, Promise<Extension>>();
  const reducers: ToolResultReducer[] = [];
  const tools: AnyTool[] = [];
  const odd = picked.findIndex((each) => typeof each !== 'string' && !isTool(each));
  if (odd !== -1) {
    const value: unknown = picked[odd];
    const message = Array.isArray(value)
      ? `tools[${odd}] is a list; spread it, as in tools: [...createFileTools()]`
      : `tools[${odd}] is ${value === null ? 'null' : typeof value}, and neither a tool nor a name; check what is imported there`;
    throw new EthosError('CONFIG_INVALID', message);
  }
  const given = picked.flatMap((each) => (typeof each === 'string' ? [] : [each.name]));
  for (const each of picked) {
    if (typeof each !== 'string') {
      tools.push(each);
      continue;
    }
    const extension = EXTENSIONS.find((one) => one.tools.includes(each));
    if (extension === undefined) throw unknownTool(each, given);
    const loading = loaded.get(extension.package) ?? load(extension, each);
    loaded.set(extension.package, loading);
    const { tools: all, reducers: own = [] } = await loading;
    tools.push(...all.filter(({ name }) => name === each));
    reducers.push(...own.filter(({ toolName }) => toolName === each));
  }
  const twice = tools.find((tool) => tools.some((o) => o !== tool && o.name === tool.name));
  if (twice !== undefined) {
    const message = `tools: two tools have the name ${JSON.stringify(twice.name)}; leave one out, or give it another name`;
    throw new EthosError('TOOL_NAME_TAKEN', message);
  }
  return { tools, reducers };
}

async function load({ package: name }: NamedExtension, tool: string): Promise<Extension> {
  try {
    return await LOADERS[name]();
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    throw new EthosError(
      'CONFIG_INVALID',
      isMissing
        ? `tools: ${tool} is in ${name}, which is not installed; add that package, or leave the tool out (in a bundle, import the tool and give it instead of its name)`
        : `tools: ${tool} can not be loaded from ${name} (${errorText(cause)}); install that package again`,
      { cause },
    );
  }
}

/** @param own the names of the tools that the host gave itself */
function unknownTool(name: string, own: readonly string[]): EthosError {
  const refused = (hint: string) => {
    const problem = `no extension has a tool ${JSON.stringify(name)}; ${hint}`;
    return new EthosError('CONFIG_INVALID', `tools: ${problem}`);
  };
  const group = EXTENSIONS.find((extension) => extension.group === name);
  if (group !== undefined) {
    const problem = `${JSON.stringify(name)} is a group; name its tools: ${group.tools.join(', ')}`;
    return new EthosError('CONFIG_INVALID', `tools: ${problem}`);
  }
  const names = EXTENSIONS.flatMap(({ tools }) => tools);
  const near = nearestName(name, [...names, ...own]);
  if (near !== undefined && own.includes(near)) {
    return refused(`did you mean "${near}"? The host gives that tool itself: it needs no name`);
  }
  if (near !== undefined) return refused(`did you mean "${near}"?`);
  const meant = EXTENSIONS.find((extension) => name.toLowerCase().startsWith(extension.group));
  const alike = names.filter((each) => name.length > 2 && each.includes(name.toLowerCase()));
  const told = meant?.tools ?? (alike.length > 0 ? alike : names);
  return refused(`there are ${told.join(', ')}`);
}
