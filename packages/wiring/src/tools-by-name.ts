import { type AnyTool, EthosError, type ToolResultReducer } from '@ethosagent/types';
import { closestMatch } from 'leven';

/** The tools of an extension of this project, and what shortens their results. */
interface Extension {
  tools: readonly AnyTool[];
  reducers?: readonly ToolResultReducer[];
}

/** Each extension with the names of its tools. It is loaded when one of them is asked for. */
const EXTENSIONS: readonly {
  package: string;
  tools: readonly string[];
  load: () => Promise<Extension>;
}[] = [
  {
    package: '@ethosagent/tools-file',
    tools: ['read_file', 'write_file', 'patch_file', 'search_files'],
    load: async () => ({ tools: (await import('@ethosagent/tools-file')).createFileTools() }),
  },
  {
    package: '@ethosagent/tools-terminal',
    tools: ['terminal', 'terminal_start', 'terminal_read', 'terminal_stop'],
    load: async () => {
      const { createTerminalTools, terminalReducer } = await import('@ethosagent/tools-terminal');
      return { tools: createTerminalTools(), reducers: [terminalReducer] };
    },
  },
  {
    package: '@ethosagent/tools-code',
    tools: ['lint', 'typecheck', 'run_tests', 'run_code'],
    load: async () => ({ tools: (await import('@ethosagent/tools-code')).createCodeTools() }),
  },
  {
    package: '@ethosagent/tools-web',
    tools: ['fetch_url', 'web_search'],
    load: async () => ({ tools: (await import('@ethosagent/tools-web')).createWebTools() }),
  },
  {
    package: '@ethosagent/tools-memory',
    tools: ['memory_read', 'memory_write', 'session_search'],
    load: async () => ({ tools: (await import('@ethosagent/tools-memory')).createMemoryTools() }),
  },
  {
    package: '@ethosagent/tools-todo',
    tools: ['todo_set', 'todo_add', 'todo_update', 'todo_list', 'todo_clear'],
    load: async () => ({ tools: (await import('@ethosagent/tools-todo')).createTodoTools() }),
  },
  {
    package: '@ethosagent/tools-delegation',
    tools: ['task', 'task_start', 'task_status', 'task_result', 'task_cancel'],
    load: async () => ({
      tools: (await import('@ethosagent/tools-delegation')).createDelegationTools(),
    }),
  },
  {
    package: '@ethosagent/tools-browser',
    tools: [
      'browser_navigate',
      'browser_snapshot',
      'browser_click',
      'browser_type',
      'browser_select',
      'browser_press',
      'browser_scroll',
      'browser_back',
      'browser_wait',
      'browser_console',
      'browser_screenshot',
      'browser_close',
    ],
    load: async () => ({
      tools: (await import('@ethosagent/tools-browser')).createBrowserTools(),
    }),
  },
];

/** Tools as they are registered, and the reducers that come with those that were named. */
export interface PickedTools {
  tools: AnyTool[];
  reducers: ToolResultReducer[];
}

/**
 * Puts the tools in place of their names.
 *
 * @throws `CONFIG_INVALID` for a name that no extension has, and for an extension that is not
 * installed
 */
export async function pickTools(picked: readonly (AnyTool | string)[]): Promise<PickedTools> {
  const loaded = new Map<string, Promise<Extension>>();
  const reducers: ToolResultReducer[] = [];
  const tools: AnyTool[] = [];
  for (const each of picked) {
    if (typeof each !== 'string') {
      tools.push(each);
      continue;
    }
    const extension = EXTENSIONS.find((one) => one.tools.includes(each));
    if (extension === undefined) throw unknownTool(each);
    const loading = loaded.get(extension.package) ?? load(extension, each);
    loaded.set(extension.package, loading);
    const { tools: all, reducers: own = [] } = await loading;
    tools.push(...all.filter(({ name }) => name === each));
    reducers.push(...own.filter(({ toolName }) => toolName === each));
  }
  return { tools, reducers };
}

async function load(
  { package: name, load }: (typeof EXTENSIONS)[number],
  tool: string,
): Promise<Extension> {
  try {
    return await load();
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    throw new EthosError(
      'CONFIG_INVALID',
      isMissing
        ? `tools: ${tool} is in ${name}, which is not installed; add that package`
        : `tools: ${name}, which has ${tool}, can not be loaded`,
      { cause },
    );
  }
}

function unknownTool(name: string): EthosError {
  const names = EXTENSIONS.flatMap(({ tools }) => tools);
  const near = name.length < 64 && closestMatch(name, names, { maxDistance: 3 });
  const hint = near ? `did you mean "${near}"?` : `there are ${names.join(', ')}`;
  return new EthosError(
    'CONFIG_INVALID',
    `tools: no extension has a tool ${JSON.stringify(name)}; ${hint}`,
  );
}
