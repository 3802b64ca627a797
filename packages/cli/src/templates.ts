/** What `init` asks. */
export interface InitAnswers {
  /** The id of the personality. */
  id: string;
  /** The folder that its tools work in, relative to the project. */
  folder: string;
  /** Whether it may run commands, in a sandbox. */
  commands: boolean;
}

/** The files of a new home, by their paths in the project. */
export function initFiles(answers: InitAnswers): Record<string, string> {
  const { id, folder } = answers;
  return {
    [`.ethos/personalities/${id}/config.yaml`]: personality(answers),
    '.ethos/ethos.config.mjs': config(id),
    '.ethos/.gitignore':
      '# State and secrets stay on this machine; personalities and ethos.config.mjs are for review.\n/secrets/\n/keychain/\n/audit/\n/attachments/\n*.sqlite*\n',
    'tools/count-words.mjs': TOOL,
    'tools/count-words.test.mjs': TOOL_TEST,
    [`${folder}/hello.txt`]: 'So much depends upon a red wheel barrow.\n',
  };
}

function personality({ id, folder, commands }: InitAnswers): string {
  const tools = [
    'count_words',
    'read_file',
    'write_file',
    'search_files',
    ...(commands ? ['terminal'] : []),
  ];
  return `# What the tools of this agent may touch. A change holds from the next batch of calls on.
# "ethosagent check" finds mistakes, "ethosagent reach" shows what each tool may touch.
name: ${id}
description: Works on the files in ${folder}.

# The tools that the model is told of. No list: all tools. []: none.
toolset: [${tools.join(', ')}]

# Folders, with all that is below them. \${CWD} is the folder that the agent is started in.
fs_reach:
  read: ["\${CWD}/${folder}"]
  write: ["\${CWD}/${folder}"]

safety:
  network:
    # Hosts that tools may request: docs.example.com, "*.example.org". []: none.
    allow: []
${
  commands
    ? `  process:
    # Commands run in a sandbox that sees the folders above and nothing else. Needs bubblewrap.
    sandbox: required
`
    : ''
}`;
}

function config(id: string): string {
  return `// How the runtime of this agent is made: for its own program, and for the command ethosagent.
// It is in the home because no tool can write here.
import { countWords } from '../tools/count-words.mjs';

export default {
  personality: '${id}',
  tools: [countWords, 'read_file', 'write_file', 'search_files', 'terminal'],
};
`;
}

const TOOL = `import { resolve } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { z } from 'zod';

export const countWords = defineTool({
  name: 'count_words',
  description: 'Count the words of a text file.',
  input: z.object({ path: z.string().min(1).describe('Path of the file') }),
  // The whole of what this tool may touch: the files that the personality lets it read.
  capabilities: { fs_reach: { read: 'from-personality' } },
  async execute({ path }, ctx) {
    const text = await ctx.scopedFs.read(resolve(ctx.workingDir, path));
    return ok(\`\${text.split(/\\s+/).filter(Boolean).length} words\`);
  },
});
`;

const TOOL_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool } from '@ethosagent/plugin-sdk/testing';
import { countWords } from './count-words.mjs';

const files = { '/workspace/poem.txt': 'so much depends upon' };

test('count_words counts the words of a file', async () => {
  const { result } = await runTool(countWords, { path: 'poem.txt' }, { files });
  assert.deepEqual([result.ok, result.value], [true, '4 words']);
});

test('count_words reads nothing outside of its reach', async () => {
  const { result } = await runTool(countWords, { path: '/etc/passwd' }, { files });
  assert.equal(result.cause, 'PATH_NOT_REACHABLE');
});
`;
