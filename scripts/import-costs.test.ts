import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../', import.meta.url));

/** Counts the modules that an import loads, and their characters, as the engine is told of them. */
const SCRIPT = `
import { Session } from 'node:inspector';
const session = new Session();
session.connect();
const scripts = [];
session.on('Debugger.scriptParsed', ({ params: { url, length } }) => {
  if (url.startsWith('file:')) scripts.push({ url, length });
});
session.post('Debugger.enable');
scripts.length = 0;
await import(process.argv[1]);
console.log(JSON.stringify(scripts));
`;

interface Cost {
  modules: number;
  kilobytes: number;
}

function costOf(entry: string): Cost {
  const file = join(repository, entry);
  expect(existsSync(file), `${file} is not built; run pnpm build:js`).toBe(true);
  const args = ['--input-type=module', '--eval', SCRIPT, file];
  const scripts: Array<{ length: number }> = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  );
  const characters = scripts.reduce((sum, { length }) => sum + length, 0);
  return { modules: scripts.length, kilobytes: Math.round(characters / 1024) };
}

/** What an import loaded when the figure was written. Lower it when an import becomes lighter. */
const WRITTEN: Record<string, Cost> = {
  'packages/types/dist/index.js': { modules: 1, kilobytes: 13 },
  'packages/plugin-sdk/dist/index.js': { modules: 3, kilobytes: 31 },
  'packages/core/dist/index.js': { modules: 20, kilobytes: 727 },
  'packages/wiring/dist/index.js': { modules: 16, kilobytes: 306 },
  'packages/wiring/dist/agent/index.js': { modules: 1, kilobytes: 0 },
  'extensions/tools-browser/dist/index.js': { modules: 121, kilobytes: 1221 },
  'extensions/tools-code/dist/index.js': { modules: 255, kilobytes: 1951 },
  'extensions/tools-delegation/dist/index.js': { modules: 102, kilobytes: 1007 },
  'extensions/tools-file/dist/index.js': { modules: 105, kilobytes: 1053 },
  'extensions/tools-mcp/dist/index.js': { modules: 263, kilobytes: 2061 },
  'extensions/tools-memory/dist/index.js': { modules: 104, kilobytes: 1063 },
  'extensions/tools-terminal/dist/index.js': { modules: 121, kilobytes: 1510 },
  'extensions/tools-todo/dist/index.js': { modules: 102, kilobytes: 1017 },
  'extensions/tools-web/dist/index.js': { modules: 103, kilobytes: 1121 },
};
const MORE = 1.15;
const IN_CHECK = new Set([
  'packages/core/dist/index.js',
  'packages/wiring/dist/index.js',
  'packages/wiring/dist/agent/index.js',
]);

describe('what an import loads', () => {
  for (const [entry, written] of Object.entries(WRITTEN)) {
    it.runIf(isLongRun() || IN_CHECK.has(entry))(entry, () => {
      const { modules, kilobytes } = costOf(entry);
      // A count of 0 means that the import was not measured.
      expect(modules).toBeGreaterThan(written.modules / 4);
      expect(modules).toBeLessThanOrEqual(Math.ceil(written.modules * MORE));
      expect(kilobytes).toBeLessThanOrEqual(Math.ceil(written.kilobytes * MORE));
    });
  }
});
