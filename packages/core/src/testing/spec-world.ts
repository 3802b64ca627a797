import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolCapabilities } from '@ethosagent/types';
import { afterAll, afterEach, vi } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { resolveCapabilities, type ScopedAccessors } from '../capability-resolver.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';

/** A folder of the test file's own, which every backend of `full` may reach. */
export const root = mkdtempSync(join(tmpdir(), 'spec-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => vi.unstubAllGlobals());

/** Every backend there is. */
export const full = (): CapabilityBackends => ({
  kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
  secretsBackend: async (ref) => `value of ${ref}`,
  storage: new FsStorage(),
  personalityFsReach: { read: [root], write: [root] },
  personalityNetworkAllow: ['*.github.com'],
});

/** The accessors of a tool with these capabilities. */
export function resolve(
  capabilities: ToolCapabilities,
  backends: CapabilityBackends = full(),
): ScopedAccessors {
  return resolveCapabilities(
    'tool',
    capabilities,
    { sessionId: 's', personalityId: 'p' },
    backends,
  );
}

/** Replaces the global `fetch`, and gives the URLs that it is asked for. */
export function stubFetch(): string[] {
  const urls: string[] = [];
  vi.stubGlobal('fetch', async (url: string | URL) => {
    urls.push(String(url));
    return new Response('stubbed');
  });
  return urls;
}
