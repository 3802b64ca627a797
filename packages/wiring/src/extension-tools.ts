/** The tools of this project's extensions by package, each with the label of its group. */
export const EXTENSION_TOOLS = {
  '@ethosagent/tools-file': {
    group: 'file',
    tools: ['read_file', 'write_file', 'patch_file', 'search_files'],
  },
  '@ethosagent/tools-terminal': {
    group: 'terminal',
    tools: ['terminal', 'terminal_start', 'terminal_read', 'terminal_send_keys', 'terminal_stop'],
  },
  '@ethosagent/tools-code': {
    group: 'code',
    tools: ['lint', 'typecheck', 'run_tests', 'run_code'],
  },
  '@ethosagent/tools-web': { group: 'web', tools: ['fetch_url', 'web_search'] },
  '@ethosagent/tools-memory': {
    group: 'memory',
    tools: ['memory_read', 'memory_write', 'session_search'],
  },
  '@ethosagent/tools-todo': {
    group: 'todo',
    tools: ['todo_set', 'todo_add', 'todo_update', 'todo_list', 'todo_clear'],
  },
  '@ethosagent/tools-delegation': {
    group: 'delegation',
    tools: ['task', 'task_start', 'task_status', 'task_result', 'task_cancel', 'read_quarantined'],
  },
  '@ethosagent/tools-browser': {
    group: 'browser',
    tools: [
      'browser_navigate',
      'browser_snapshot',
      'browser_find',
      'browser_click',
      'browser_type',
      'browser_fill',
      'browser_select',
      'browser_press',
      'browser_hover',
      'browser_drag',
      'browser_dialog',
      'browser_scroll',
      'browser_back',
      'browser_tabs',
      'browser_wait',
      'browser_console',
      'browser_network',
      'browser_evaluate',
      'browser_screenshot',
      'browser_save',
      'browser_upload',
      'browser_download',
      'browser_close',
    ],
  },
} as const;

export type ExtensionPackage = keyof typeof EXTENSION_TOOLS;

/** The name of a tool in the extensions of this project. */
export type ToolName = (typeof EXTENSION_TOOLS)[ExtensionPackage]['tools'][number];
