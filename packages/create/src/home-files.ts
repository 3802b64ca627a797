import { readTemplate } from './read-template.js';

/** The personality of a new home. */
export interface HomeAnswers {
  /** The id of the personality: small letters, digits, `_` and `-`. */
  id: string;
  /** The path of the folder that its tools work in, relative to the project. */
  folder: string;
  /** Whether the personality may run commands, in a sandbox. */
  commands: boolean;
}

/** The tools of `@ethosagent/tools-file` that a home offers. */
export const FILE_TOOLS = ['read_file', 'write_file', 'search_files'];

interface HomeOptions extends Omit<HomeAnswers, 'commands'> {
  /** The tools that the model is offered. */
  toolset: readonly string[];
  /** The lines of `ethos.config.mjs`. */
  config: readonly string[];
  sandbox: boolean;
}

/**
 * Returns the files of a home in an existing project, with a tool and its test, by their paths in
 * the project.
 */
export function homeFiles({ id, folder, commands }: HomeAnswers): Record<string, string> {
  const named = [...FILE_TOOLS, ...(commands ? ['terminal'] : [])];
  const tools = Object.entries(readTemplate('count-words')).map(([name, text]) => [
    `tools/${name.replace(/\.ts$/, '.mjs')}`,
    text.replace("'./count-words.js'", "'./count-words.mjs'"),
  ]);
  const config = [
    "import { countWords } from '../tools/count-words.mjs';",
    '',
    'export default {',
    `  personality: '${id}',`,
    toolsLine('countWords', named),
    '};',
  ];
  return {
    ...onlyHome({ id, folder, toolset: ['count_words', ...named], config, sandbox: commands }),
    ...Object.fromEntries(tools),
    ...hello(folder),
  };
}

/** Returns the line of `ethos.config.mjs` with an imported tool, and other tools by their names. */
export function toolsLine(tool: string, names: readonly string[]): string {
  return `  tools: [${[tool, ...names.map((name) => `'${name}'`)].join(', ')}],`;
}

/** Returns the file that the first calls read. */
export function hello(folder: string): Record<string, string> {
  return { [`${folder}/hello.txt`]: 'So much depends upon a red wheel barrow.\n' };
}

/** Returns the files of a home without a tool. */
export function onlyHome(options: HomeOptions): Record<string, string> {
  return {
    [`.ethos/personalities/${options.id}/config.yaml`]: personality(options),
    '.ethos/ethos.config.mjs': [
      '// How the runtime of this agent is made: for its own program, and for the command ethosagent.',
      '// It is in the home because no tool can write here.',
      ...options.config,
      '',
    ].join('\n'),
    '.ethos/.gitignore':
      '# State and secrets stay on this machine; personalities and ethos.config.mjs are for review.\n/secrets/\n/keychain/\n/audit/\n/attachments/\n*.sqlite*\n',
  };
}

function personality({ id, folder, toolset, sandbox }: HomeOptions): string {
  return `# What the tools of this agent may touch. A change holds from the next call on.
# "ethosagent check" finds mistakes, "ethosagent reach" shows what each tool may touch.
name: ${id}
description: Works on the files in ${folder}.

# The tools that the model is told of. No list: all tools. []: none.
# Tools of MCP servers are not among them: mcp_servers lists their servers. No list: all servers.
toolset: [${toolset.join(', ')}]

# Folders, with all that is below them. \${CWD} is the folder that the agent is started in.
fs_reach:
  read: ["\${CWD}/${folder}"]
  write: ["\${CWD}/${folder}"]

safety:
  network:
    # Hosts that tools may request: docs.example.com, "*.example.org". []: none.
    allow: []
${
  sandbox
    ? `  process:
    # Commands run in a sandbox that sees the folders above and nothing else. Needs bubblewrap.
    sandbox: required
`
    : ''
}`;
}
