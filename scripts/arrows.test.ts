import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// The arrows of ARCHITECTURE.md, as lint holds them: probes in a copy of the configuration. Each
// refusal has a twin that passes, so that nothing but the arrow is what refuses.

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const ARROW_RULES = /noRestrictedImports|noRestrictedGlobals|noProcessEnv|plugin/;
const imports = (name: string) => `import { x } from '${name}';\n\nexport const y = x;\n`;

const probes: [what: string, folder: string, refused: string, passes: string][] = [
  [
    'policy imports core',
    'packages/policy',
    imports('@ethosagent/core'),
    imports('@ethosagent/types'),
  ],
  [
    'types imports anything',
    'packages/types',
    imports('@ethosagent/policy'),
    imports('./errors.js'),
  ],
  [
    'core imports storage-fs',
    'packages/core',
    imports('@ethosagent/storage-fs'),
    imports('@ethosagent/safety-network'),
  ],
  [
    'process imports safety-network',
    'packages/process',
    imports('@ethosagent/safety-network'),
    imports('@ethosagent/policy'),
  ],
  [
    'file-lock imports storage-fs',
    'packages/file-lock',
    imports('@ethosagent/storage-fs'),
    imports('@ethosagent/policy'),
  ],
  [
    'image-scaler imports core',
    'packages/image-scaler',
    imports('@ethosagent/core'),
    imports('@ethosagent/policy'),
  ],
  [
    'audit imports core',
    'packages/audit',
    imports('@ethosagent/core'),
    imports('@ethosagent/policy'),
  ],
  [
    'plugin-sdk imports core',
    'packages/plugin-sdk',
    imports('@ethosagent/core'),
    imports('@ethosagent/types'),
  ],
  [
    'agent-loop imports storage-sqlite',
    'packages/agent-loop',
    imports('@ethosagent/storage-sqlite'),
    imports('@ethosagent/core'),
  ],
  [
    'storage-redis imports core',
    'packages/storage-redis',
    imports('@ethosagent/core'),
    imports('@ethosagent/policy'),
  ],
  [
    'an adapter imports wiring',
    'packages/adapter-ai-sdk',
    imports('@ethosagent/wiring'),
    imports('@ethosagent/core'),
  ],
  [
    'an extension imports wiring',
    'extensions/tools-file',
    imports('@ethosagent/wiring'),
    imports('@ethosagent/plugin-sdk'),
  ],
  [
    'an extension imports core',
    'extensions/tools-file',
    imports('@ethosagent/core/scoped'),
    imports('@ethosagent/types'),
  ],
  [
    'an extension imports safety-network',
    'extensions/tools-file',
    imports('@ethosagent/safety-network'),
    imports('@ethosagent/policy'),
  ],
  [
    'an extension imports node:fs',
    'extensions/tools-file',
    imports('node:fs'),
    imports('node:path'),
  ],
  [
    'an extension imports node:child_process',
    'extensions/tools-file',
    imports('node:child_process'),
    imports('node:crypto'),
  ],
  [
    'an extension calls the global fetch',
    'extensions/tools-file',
    "export const y = () => fetch('x');\n",
    'export const y = (fetch: () => void) => fetch();\n',
  ],
  [
    'an extension reads process.env',
    'extensions/tools-file',
    'export const y = process.env.X;\n',
    'export const y = (process: { env: string }) => process.env;\n',
  ],
  [
    'an extension throws without a code',
    'extensions/tools-file',
    "export const y = () => {\n  throw new Error('x');\n};\n",
    'export const y = (e: unknown) => {\n  throw e;\n};\n',
  ],
];

let world: string;
let refusedFiles: Set<string>;

beforeAll(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'arrows-')));
  for (const part of ['biome.json', 'lint']) {
    cpSync(join(root, part), join(world, part), { recursive: true });
  }
  for (const [index, [, folder, refused, passes]] of probes.entries()) {
    mkdirSync(join(world, folder, 'src'), { recursive: true });
    writeFileSync(join(world, folder, 'src', `refused-${index}.ts`), refused);
    writeFileSync(join(world, folder, 'src', `passes-${index}.ts`), passes);
  }
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const { stdout } = spawnSync(
    biome,
    ['lint', '--reporter=json', '--vcs-enabled=false', '--max-diagnostics=1000', world],
    { cwd: world, encoding: 'utf8' },
  );
  const { diagnostics } = JSON.parse(stdout.slice(stdout.indexOf('{')));
  refusedFiles = new Set(
    diagnostics
      .filter(({ category }: { category: string }) => ARROW_RULES.test(category))
      .map(({ location }: { location: { path: string | { file: string } } }) =>
        typeof location.path === 'string' ? location.path : location.path.file,
      ),
  );
});
afterAll(() => rmSync(world, { recursive: true, force: true }));

describe('lint', () => {
  it.each(probes.map(([what, folder], index) => [what, folder, index] as const))(
    'refuses that %s',
    (_, folder, index) => {
      const isRefused = (kind: string) =>
        [...refusedFiles].some((file) => file.endsWith(`${folder}/src/${kind}-${index}.ts`));
      expect({ refused: isRefused('refused'), passes: !isRefused('passes') }).toEqual({
        refused: true,
        passes: true,
      });
    },
  );
});
