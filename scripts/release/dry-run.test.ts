import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { dryRun } from './dry-run.js';
import { NODE_MAJORS } from './nodes.js';
import { publishedPackages } from './packages.js';

it.runIf(isLongRun())(
  'a release goes to a registry, and an empty folder installs and uses it on each Node',
  async () => {
    const log = (line: string) => process.stdout.write(`release: ${line}\n`);
    const { version, published, publishedAgain, changelog, fresh } = await dryRun({ log });
    const names = publishedPackages().map(({ manifest }) => manifest.name);
    expect(published.sort()).toEqual(names.map((name) => `${name}@${version}`).sort());
    expect(version).not.toBe(publishedPackages()[0]?.manifest.version);
    expect(publishedAgain).toEqual([]);
    expect(changelog).toContain(`## ${version}`);
    expect(changelog).toContain('A change that the dry run made up.');
    expect(Object.keys(fresh).map(Number)).toEqual([...NODE_MAJORS]);
    for (const [major, { program, imported, check, call, quickstarts }] of Object.entries(fresh)) {
      expect(program).toEqual({
        node: Number(major),
        shouted: 'HI',
        read: true,
        outside: 'PATH_NOT_REACHABLE',
        kept: 'v',
      });
      expect(imported).toContain('@ethosagent/core');
      expect(check).toContain('0 errors, 0 warnings');
      expect(call).toContain('8 words');
      expect(Object.keys(quickstarts)).toContain('plain-script.md');
      for (const [page, { printed, expected }] of Object.entries(quickstarts)) {
        expect(printed, `${page} on Node ${major}`).toBe(expected);
      }
    }
  },
);
