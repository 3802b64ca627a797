import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const FILES = {
  'home/personalities/coder/config.yaml': `name: Coder
description: You repair small projects and keep their tests green.
fs_reach:
  read: ["\${CWD}"]
  write: ["\${CWD}"]
safety:
  untrusted:
    # The project is the operator's own; what its programs print is not.
    trust: [file]
    spawn: allow
`,
  'home/personalities/reviewer/config.yaml': `name: Reviewer
description: You read changes, and say in one sentence whether they are right.
toolset: [read_file, search_files]
fs_reach: {read: ["\${CWD}/src"]}
`,
  'project/package.json': '{ "name": "shop", "scripts": { "test": "node --test" } }\n',
  'project/src/total.js':
    'exports.total = (prices) => prices.reduce((sum, price) => sum - price, 0);\n',
  'project/src/total.test.js': `const assert = require('node:assert');
const { test } = require('node:test');
const { total } = require('./total.js');

test('adds up', () => assert.equal(total([1, 2, 3]), 6));
`,
};

/** A project with a mistake in it, and a home with two personalities. */
export function createProject() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'agent-example-')));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  const read = (name: string) => readFileSync(join(base, name), 'utf8');
  return {
    home: join(base, 'home'),
    cwd: join(base, 'project'),
    source: () => read('project/src/total.js'),
    memory: () => read('home/personalities/coder/memory.md'),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
