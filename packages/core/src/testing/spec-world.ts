import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolCapabilities } from '@ethosagent/types';
import { onTestFinished, vi } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { resolveCapabilities, type ScopedAccessors } from '../capability-resolver.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';

/** An existing folder that every backend of `full` may reach. Nothing is written to it. */
export const root = import.meta.dirname;

/** All backends. */
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

/** Replaces the global `fetch` until the test ends. Returns the list of requested URLs. */
export function stubFetch(): string[] {
  const urls: string[] = [];
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  vi.stubGlobal('fetch', async (url: string | URL) => {
    urls.push(String(url));
    return new Response('stubbed');
  });
  return urls;
}
