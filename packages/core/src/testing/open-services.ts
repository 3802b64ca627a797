import { MemoryAuditSink } from '@ethosagent/audit';
import type { ServiceOwner, ServiceScope, ToolCapabilities } from '@ethosagent/types';
import { onTestFinished } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import type { ToolRegistryOptions } from '../batch/batch.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { DefaultToolRegistry } from '../tool-registry.js';

/** A registry whose services end with the test. */
export function servicesOf(backends: CapabilityBackends = {}, options: ToolRegistryOptions = {}) {
  const audit = new MemoryAuditSink();
  const { kvStoreFactory } = createInMemoryKvStore();
  const registry = new DefaultToolRegistry(
    { audit, kvStoreFactory, ...backends },
    undefined,
    options,
  );
  onTestFinished(() => registry.endAllSessions());
  return {
    registry,
    events: audit.events,
    open: (capabilities: ToolCapabilities, owner: ServiceOwner = { sessionId: 's1' }) =>
      registry.openService({ name: 'svc', capabilities }, owner),
  };
}

/** The processes of a new service that may start any binary. */
export async function processesOf(backends: CapabilityBackends = {}, owner?: ServiceOwner) {
  const { open, registry, events } = servicesOf(backends);
  const service = await open({ process: { allowedBinaries: ['*'] } }, owner);
  return { registry, service, events, processes: present(service.scopedProcess) };
}

/** Checks that a declared accessor is present. */
export function present<T>(accessor: T | undefined): T {
  if (accessor === undefined) throw new Error('the service has no such accessor');
  return accessor;
}

/** Every use of a service that is an access. */
export const USES: Array<[name: string, use: (service: ServiceScope) => Promise<unknown>]> = [
  ['scopedFetch.fetch', ({ scopedFetch }) => present(scopedFetch).fetch('http://127.0.0.1:1/')],
  ['scopedFs.read', ({ scopedFs }) => present(scopedFs).read('/x')],
  ['scopedFs.write', ({ scopedFs }) => present(scopedFs).write('/x', 'y')],
  ['secretsResolver.get', ({ secretsResolver }) => present(secretsResolver).get('key')],
  ['kvStore.get', ({ kvStore }) => present(kvStore).get('key')],
  ['kvStore.set', ({ kvStore }) => present(kvStore).set('key', 'v')],
  ['scopedProcess.spawn', ({ scopedProcess }) => present(scopedProcess).spawn('true', [])],
  ['scopedProcess.open', ({ scopedProcess }) => present(scopedProcess).open('true', [])],
  ['scopedProcess.prepare', ({ scopedProcess }) => present(scopedProcess).prepare('true', [])],
  ['proxy', (service) => present(service.proxy?.())],
];

/** A declaration of everything that `USES` needs. */
export const ALL: ToolCapabilities = {
  network: { allowedHosts: ['127.0.0.1'] },
  secrets: ['key'],
  storage: { scope: 'session', kind: 'kv' },
  fs_reach: { read: 'from-personality', write: 'from-personality' },
  process: { allowedBinaries: ['*'] },
};
