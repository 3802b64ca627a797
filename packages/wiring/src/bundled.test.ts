import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundleProgram,
  createTestFolder,
  inPlace,
  isLongRun,
  runNode,
} from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PERSONALITY = `
name: P
fs_reach:
  read: ["\${ETHOS_HOME}/notes"]
safety:
  network: { allow: ["127.0.0.1", "169.254.169.254"], allow_private_urls: true }
`;

const program = new URL('fixtures/bundled-program.ts', import.meta.url);
const folder = createTestFolder('bundled');
const server = createServer((_request, response) => response.end('a page'));
/** The folders from which the bundle has files. */
let holds: string[];
/** What the program printed of each call. */
let printed: Record<string, string>;

// It uses what was built, as a program of a user does.
beforeAll(async () => {
  const bundle = join(folder.base, 'program.mjs');
  holds = await bundleProgram(program, bundle);
  // Native code can't be in a bundle. Nothing else is beside it.
  const storage = fileURLToPath(import.meta.resolve('@ethosagent/storage-sqlite'));
  const sqlite = createRequire(storage).resolve('better-sqlite3/package.json');
  mkdirSync(join(folder.base, 'node_modules'));
  symlinkSync(dirname(sqlite), join(folder.base, 'node_modules', 'better-sqlite3'));
  folder.put('personalities/p/config.yaml', PERSONALITY);
  folder.put('notes/a.txt', 'from the disk');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: AddressInfo = Object(server.address());
  const { stdout, log, exitCode } = await inPlace((place) =>
    runNode([bundle, folder.dir, `${port}`], place),
  );
  expect(exitCode, log).toBe(0);
  printed = JSON.parse(stdout);
});
afterAll(() => {
  server.close();
  folder.remove();
});

describe('a program in one file, without its packages', () => {
  it('reads what it may, and nothing else', () => {
    expect(printed.read).toContain('from the disk');
    expect(printed.outside).toContain('PATH_NOT_REACHABLE');
  });

  it('judges addresses', () => {
    expect(printed.fetched).toContain('a page');
    expect(printed.metadata).toContain('HOST_NOT_ALLOWED: 169.254.169.254 is a metadata service');
  });

  it('holds the one extension that it imports', () => {
    const extensions = holds.flatMap((name) => /^extensions\/([^/]+)/.exec(name)?.[1] ?? []);
    expect([...new Set(extensions)]).toEqual(['tools-file']);
    expect(holds.filter((name) => /playwright|modelcontextprotocol/.test(name))).toEqual([]);
  });

  it('is told how to have a tool that it names', () => {
    expect(printed.named).toContain('CONFIG_INVALID');
    expect(printed.named).toContain('import the tool and give it instead of its name');
  });

  it.runIf(isLongRun())('says that YAML is missing where it was left out', async () => {
    const bundle = join(folder.base, 'without-yaml.mjs');
    await bundleProgram(program, bundle, ['yaml']);
    const { exitCode, log } = await inPlace((place) => runNode([bundle, folder.dir, '1'], place));
    expect(exitCode).toBe(1);
    expect(log).toContain('TOOL_UNAVAILABLE: the package yaml could not be loaded');
  });
});
