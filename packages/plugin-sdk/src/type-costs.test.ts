import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const packageRoot = join(dirname(fileURLToPath(import.meta.url)), '..');
const repository = join(packageRoot, '..', '..');

/** Capabilities, and a statement that uses their accessors. */
const USES = [
  ["{ network: { allowedHosts: ['a.org'] } }", "await ctx.scopedFetch.fetch('https://a.org');"],
  ["{ secrets: ['key'] }", "await ctx.secretsResolver.get('key');"],
  ["{ storage: { scope: 'session', kind: 'kv' } }", "await ctx.kvStore.get('key');"],
  ["{ fs_reach: { read: ['/a'] } }", "await ctx.scopedFs.read('/a');"],
  ["{ fs_reach: { read: ['/a'], write: ['/a'] } }", "await ctx.storage?.write('/a', '');"],
  ["{ process: { allowedBinaries: ['git'] } }", "await ctx.scopedProcess.spawn('git', []);"],
  [
    "{ process: { allowedBinaries: ['npm'], background: true } }",
    'await ctx.scopedProcess.background.list();',
  ],
  ["{ memory: { access: 'read' }, sessions: { access: 'read' } }", 'await ctx.memory.read();'],
  [
    "{ attachments: {}, delegation: {}, service: { scope: 'session' } }",
    'await ctx.attachments.list();',
  ],
  ['{}', "ctx.emit({ type: 'progress', toolName: 'tool', message: 'begun' });"],
] as const;

interface Use {
  capabilities: string;
  /** Absent for a tool that does not use its context. */
  statement?: string;
}

/** A program with one tool for each use. */
function program(uses: readonly Use[]): string {
  const tools = uses.map(({ capabilities, statement }, index) => {
    return `export const tool${index} = defineTool({
  name: 'tool_${index}',
  description: 'A tool.',
  input: z.object({ key${index}: z.string(), count: z.number().default(${index}) }),
  capabilities: ${capabilities},
  async execute(args${statement === undefined ? '' : ', ctx'}) {
    ${statement ?? ''}
    return ok(args.key${index});
  },
});`;
  });
  return [IMPORTS, ...tools].join('\n');
}

const IMPORTS = `import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { z } from 'zod';`;

/** Capabilities, a statement that they don't allow, and the text in its error. */
const WRONG = [
  ['{}', 'ctx.scopedFetch;', 'network for scopedFetch; '],
  [
    "{ storage: { scope: 'session', kind: 'kv' } }",
    'ctx.storage;',
    'fs_reach for scopedFs and storage; ',
  ],
  [
    "{ storage: { scope: 'session', kind: 'kv' } }",
    'ctx.memory;',
    '\'ToolTurn & { kvStore: KeyValueStore; } & Undeclared<"',
  ],
  ["{ fs_reach: { read: ['/a'] } }", "ctx.scopedFs.write('/a', '');", '"fs_reach.write"'],
  ["{ fs_reach: { write: ['/a'] } }", "ctx.scopedFs.read('/a');", '"fs_reach.read"'],
  [
    "{ memory: { access: 'read' } }",
    "ctx.memory.change({ kind: 'remove', section: 'Facts' });",
    `"memory.access: 'read-write'"`,
  ],
  [
    '{ delegation: {} }',
    "ctx.delegation.start({ prompt: 'Look.' });",
    '"delegation.background: true"',
  ],
] as const;

let folder: string;
beforeAll(() => {
  // In a folder where imports resolve as they do for the package.
  folder = mkdtempSync(join(packageRoot, 'node_modules', '.type-costs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of the workspace's compiler for a program, with the sources of the packages. */
async function compile(source: string): Promise<string> {
  const at = mkdtempSync(join(folder, 'program-'));
  const compilerOptions = {
    composite: false,
    declaration: false,
    emitDeclarationOnly: false,
    noEmit: true,
  };
  writeFileSync(join(at, 'program.ts'), source);
  writeFileSync(
    join(at, 'tsconfig.json'),
    JSON.stringify({
      extends: join(repository, 'tsconfig.sources.json'),
      compilerOptions,
      files: ['program.ts'],
      include: [],
    }),
  );
  const compiler = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
  // With several threads, each one would count the shared types again.
  const flags = ['--extendedDiagnostics', '--singleThreaded', '--pretty', 'false'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [compiler, '-p', at, ...flags], (error, stdout) =>
      error !== null && stdout === '' ? reject(error) : resolve(stdout),
    );
  });
}

async function countTypes(source: string): Promise<number> {
  const output = await compile(source);
  expect(output).not.toContain('error TS');
  return Number(/^Types:\s+(\d+)$/m.exec(output)?.[1]);
}

describe('the types of ctx', () => {
  it('cost a program of twenty tools fewer than 5,000 types', async () => {
    const uses = [...USES, ...USES].map(([capabilities, statement]) => ({
      capabilities,
      statement,
    }));
    const withContext = await countTypes(program(uses));
    const without = await countTypes(program(uses.map(({ capabilities }) => ({ capabilities }))));
    expect(without).toBeGreaterThan(0);
    expect(withContext - without).toBeLessThan(5000);
  });

  it('the error for what is not declared names what to declare', async () => {
    const output = await compile(
      program(WRONG.map(([capabilities, statement]) => ({ capabilities, statement }))),
    );
    const errors = output.split('\n').filter((line) => line.includes(': error TS'));
    expect(errors).toEqual(WRONG.map(([, , text]) => expect.stringContaining(text)));
  });
});

it.each([
  [
    'no capabilities',
    "input: z.object({}), async execute() { return ok(''); }",
    /Property 'capabilities' is missing/,
  ],
  [
    'a mistyped declaration',
    "input: z.object({}), capabilities: { network: { allowedHost: [] } }, async execute() { return ok(''); }",
    /Did you mean to write 'allowedHosts'\?/,
  ],
  [
    'a mistyped declaration beside a JSON Schema',
    "schema: {}, capabilities: { network: { allowedHost: [] } }, async execute() { return ok(''); }",
    /Did you mean to write 'allowedHosts'\?/,
  ],
  [
    'another result',
    "input: z.object({}), capabilities: {}, async execute() { return ''; }",
    /'string' is not assignable to type 'ToolResult'/,
  ],
])('the only error for %s says what is wrong', async (_, definition, text) => {
  const tool = `defineTool({ name: 'tool', description: 'A tool.', ${definition} });`;
  const output = await compile([IMPORTS, 'export { ok, z };', tool].join('\n'));
  expect(output.match(/: error TS/g)).toHaveLength(1);
  expect(output).toMatch(text);
});
