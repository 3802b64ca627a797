import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withSharedFields } from './manifests.js';
import { publishedPackages, ROOT, readManifest } from './packages.js';

const packages = publishedPackages();
const root = readManifest('.');

describe('the manifest of every published package', () => {
  it.each(packages.map((each) => [each.folder, each] as const))(
    '%s has the addresses, the licence and the access of the repository; "pnpm manifests" writes them',
    (folder, { manifest }) => {
      const text = readFileSync(join(ROOT, folder, 'package.json'), 'utf8');
      const expected = withSharedFields(manifest, folder, root);
      expect(JSON.parse(text)).toEqual(expected);
      expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(expected));
      expect(manifest.description).toMatch(/\.$/);
      expect(new Set(manifest.keywords).size).toBeGreaterThanOrEqual(4);
    },
  );

  it('has one version, and depends on the others by workspace:^', () => {
    expect(new Set(packages.map(({ manifest }) => manifest.version)).size).toBe(1);
    const names = new Set(packages.map(({ manifest }) => manifest.name));
    const others = packages.flatMap(({ manifest }) =>
      Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
        .filter(([name, range]) => names.has(name) && range !== 'workspace:^')
        .map(([name, range]) => `${manifest.name} -> ${name} ${range}`),
    );
    expect(others).toEqual([]);
  });

  it('comes after those of its dependencies, so that no published version lacks one', () => {
    const order = packages.map(({ manifest }) => manifest.name);
    const late = packages.flatMap(({ manifest }, at) =>
      Object.keys(manifest.dependencies ?? {}).filter((name) => order.indexOf(name) > at),
    );
    expect(late).toEqual([]);
  });
});
