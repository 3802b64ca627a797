import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** What the release reads of a `package.json`. */
export interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  description?: string;
  packageManager?: string;
  keywords?: string[];
  engines?: { node?: string };
  exports: Record<string, { types: string; default: string }>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  repository?: { type: string; url: string; directory?: string };
  [field: string]: unknown;
}

export interface WorkspacePackage {
  /** From the top of the repository, e.g. `packages/core`. */
  folder: string;
  manifest: Manifest;
}

/** @param top of a copy of the repository */
export function readManifest(folder: string, top = ROOT): Manifest {
  return JSON.parse(readFileSync(join(top, folder, 'package.json'), 'utf8'));
}

/** Every package that is published, each after those that it depends on. */
export function publishedPackages(top = ROOT): WorkspacePackage[] {
  const found = ['packages', 'extensions']
    .flatMap((group) => readdirSync(join(top, group)).map((name) => `${group}/${name}`))
    .map((folder) => ({ folder, manifest: readManifest(folder, top) }))
    .filter(({ manifest }) => manifest.private !== true);
  const byName = new Map(found.map((each) => [each.manifest.name, each]));
  const ordered = new Set<WorkspacePackage>();
  const seen = new Set<string>();
  const order = (name: string) => {
    const each = byName.get(name);
    if (each === undefined || seen.has(name)) return;
    seen.add(name);
    for (const dependency of Object.keys(each.manifest.dependencies ?? {})) order(dependency);
    ordered.add(each);
  };
  for (const name of byName.keys()) order(name);
  return [...ordered];
}
