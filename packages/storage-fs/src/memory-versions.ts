import { join } from 'node:path';
import type { MemoryVersion, Storage } from '@ethosagent/types';
import { memoryState } from './memory-state.js';

// <milliseconds since the epoch>-<revision>.md
const NAME = /^(\d{15})-[0-9a-f]{32}\.md$/;

/** Returns the folder beside a memory's file in which replaced versions are kept. */
export function versionsFolder(file: string): string {
  return `${file}.versions`;
}

/**
 * Keeps the content that is about to be replaced. Of the older versions, only the newest ones stay.
 */
export async function keepVersion(
  storage: Storage,
  file: string,
  { markdown, now, maxVersions }: { markdown: string; now: number; maxVersions: number },
): Promise<void> {
  const folder = versionsFolder(file);
  const names = await versionNames(storage, folder);
  // Always later than the last version, even if the clock was set back: versions are sorted by
  // name.
  const at = Math.max(Math.floor(now), timeOf(names.at(-1)) + 1);
  const { revision } = memoryState(markdown);
  const name = `${String(at).padStart(15, '0')}-${revision}.md`;
  await storage.write(join(folder, name), markdown, { mode: 0o600 });
  for (const old of names.slice(0, Math.max(0, names.length + 1 - maxVersions))) {
    await storage.remove(join(folder, old));
  }
}

/** Returns the replaced versions, the newest first. */
export async function readVersions(
  storage: Storage,
  file: string,
  limit: number,
): Promise<MemoryVersion[]> {
  const folder = versionsFolder(file);
  const names = await versionNames(storage, folder);
  const versions: MemoryVersion[] = [];
  for (const name of names.reverse().slice(0, limit)) {
    const markdown = await storage.read(join(folder, name));
    if (markdown === null) continue;
    const { revision, sections } = memoryState(markdown).document;
    versions.push({ revision, replacedAt: timeOf(name), sections });
  }
  return versions;
}

async function versionNames(storage: Storage, folder: string): Promise<string[]> {
  return (await storage.list(folder)).filter((name) => NAME.test(name)).sort();
}

function timeOf(name: string | undefined): number {
  return Number(NAME.exec(name ?? '')?.[1] ?? 0);
}
