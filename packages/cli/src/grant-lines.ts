import type { ResolvedGrant } from '@ethosagent/core';
import { givenSecrets, secretNote } from './given-secrets.js';

/**
 * The parts that are described in words below. All others are shown unchanged, so that nothing that
 * a call may touch is left out.
 */
const WORDED: ReadonlySet<string> = new Set<keyof ResolvedGrant>([
  'network',
  'fs_reach',
  'secrets',
  'secretSources',
  'process',
  'storage',
  'attachments',
  'memory',
  'sessions',
  'service',
  'delegation',
  'quotas',
]);

/** Returns what a call may touch, as lines with a kind and a value. */
export function grantLines(grant: ResolvedGrant): [what: string, which: string][] {
  const { network, fs_reach, process: processes, attachments, memory } = grant;
  const { storage, sessions, service, delegation, quotas } = grant;
  const lines: [string, string][] = [];
  const list = (what: string, entries: readonly string[] | undefined) => {
    if (entries !== undefined && entries.length > 0) lines.push([what, entries.join(', ')]);
  };
  if (network !== undefined) {
    lines.push(['hosts', network.allowedHosts.join(', ') || 'none']);
    list('not hosts', network.deny);
    if (network.allow_private_urls === true) lines.push(['private addresses', 'allowed']);
    list('private machines', network.privateHosts);
    list('service ports', network.servicePorts);
  }
  list('read', fs_reach?.read);
  list('write', fs_reach?.write);
  list('not files', fs_reach?.deny);
  list('stay in place', fs_reach?.stays);
  list(
    'links',
    Object.entries(fs_reach?.leads ?? {}).map(([root, lead]) => `${root} to ${lead}`),
  );
  list(
    'secrets',
    givenSecrets(grant).map((secret) => {
      const note = secretNote(secret);
      return note === '' ? secret.ref : `${secret.ref} (${note})`;
    }),
  );
  if (processes !== undefined) {
    list('programs', processes.allowedBinaries);
    lines.push(['sandbox', processes.sandbox ?? 'none: programs reach what the user may']);
    if (processes.arguments !== undefined) {
      lines.push(['arguments', JSON.stringify(processes.arguments)]);
    }
    if (processes.limits !== undefined) lines.push(['limits', JSON.stringify(processes.limits)]);
    if (processes.background === true) lines.push(['background', 'processes may outlive a call']);
  }
  if (storage !== undefined) lines.push(['store', storage.scope]);
  list('attachments', attachments?.mediaTypes);
  if (memory !== undefined) lines.push(['memory', `${memory.access}: ${memory.scopes.join(', ')}`]);
  if (sessions !== undefined) {
    lines.push(['sessions', sessions.owner?.scopeId ?? 'its own']);
  }
  if (service !== undefined) lines.push(['service', 'kept open for the session']);
  if (delegation !== undefined) lines.push(['sub-agents', 'with no more than this reach']);
  if (quotas !== undefined) lines.push(['quotas', JSON.stringify(quotas)]);
  for (const [what, which] of Object.entries(grant)) {
    if (!WORDED.has(what)) lines.push([what, JSON.stringify(which)]);
  }
  return lines;
}
