import { FILE_TOOLS, hello, onlyHome, toolsLine } from './home-files.js';
import { ownVersion, readTemplate } from './read-template.js';

/** The kinds of projects. */
export const TEMPLATES = {
  agent: 'an agent, with a tool of its own',
  tool: 'a tool, as a package',
  'mcp-server': 'an MCP server, for Claude Code, Cursor and VS Code',
  plugin: 'a plugin: tools and reducers, as a package',
} as const;

export type Template = keyof typeof TEMPLATES;

const COUNT_WORDS = "import { countWords } from '../dist/count-words.js';";
const OWN_AND_FILES = toolsLine('countWords', FILE_TOOLS);

/** The tools in the home of each template: the toolset, and the lines of `ethos.config.mjs`. */
const TOOLS: Readonly<Record<Template, { files: readonly string[]; from: string; has: string }>> = {
  agent: { files: FILE_TOOLS, from: COUNT_WORDS, has: OWN_AND_FILES },
  tool: { files: [], from: COUNT_WORDS, has: toolsLine('countWords', []) },
  'mcp-server': { files: FILE_TOOLS, from: COUNT_WORDS, has: OWN_AND_FILES },
  plugin: {
    files: [],
    from: "import plugin from '../dist/index.js';",
    has: '  tools: [],\n  plugins: [plugin],',
  },
};

export function isTemplate(text: string): text is Template {
  return Object.hasOwn(TEMPLATES, text);
}

/**
 * Returns the files of a new project, by their paths in its folder.
 *
 * @param name a valid name of an npm package
 */
export function projectFiles(template: Template, name: string): Record<string, string> {
  const [id, folder] = ['assistant', 'workspace'];
  const { files, from, has } = TOOLS[template];
  const config = [from, '', 'export default {', `  personality: '${id}',`, has, '};'];
  const source = Object.entries(readTemplate('count-words')).map(([path, text]) => [
    `src/${path}`,
    text,
  ]);
  const all = {
    ...readTemplate('project'),
    ...Object.fromEntries(source),
    ...readTemplate(template),
    ...onlyHome({ id, folder, toolset: ['count_words', ...files], config, sandbox: false }),
    ...hello(folder),
  };
  const values: Readonly<Record<string, string>> = {
    name,
    // Clients accept letters, digits, `_` and `-`.
    server: name.replace(/^@.*\//, '').replace(/[^a-z0-9_-]/g, '-'),
    version: `^${ownVersion()}`,
  };
  const fill = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (mark: string, key: string) => values[key] ?? mark);
  return Object.fromEntries(Object.entries<string>(all).map(([path, text]) => [path, fill(text)]));
}
