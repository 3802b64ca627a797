import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapabilityBackends } from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import { EthosError, type ToolCapabilities, type TurnAttachment } from '@ethosagent/types';

/** The targets of the accesses: folders, a server on loopback, secrets and attachments. */
export interface AuditWorld {
  /** The path of a folder that may be read and written. */
  root: string;
  /** The path of a folder that may only be read. */
  readOnly: string;
  /** The path of a folder outside the reach. */
  outside: string;
  /** The origin of a server within the reach. */
  origin: string;
  backends: CapabilityBackends;
  capabilities: ToolCapabilities;
  attachments: TurnAttachment[];
  close(): void;
}

/** The bytes of a file that is too large to be read in a single step. */
const LARGE_BYTES = 300_000;

export async function createAuditWorld(): Promise<AuditWorld> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'audit-attacks-')));
  const [root, readOnly, outside] = [join(base, 'in'), join(base, 'read'), join(base, 'out')];
  for (const folder of [root, readOnly, outside, join(root, 'denied')]) mkdirSync(folder);
  symlinkSync(outside, join(root, 'link'));
  writeFileSync(join(root, 'large'), Buffer.alloc(LARGE_BYTES, 'x'));
  writeFileSync(join(root, 'small'), 'x');
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    if (url.startsWith('/hang')) return;
    if (url.startsWith('/hop')) response.writeHead(302, { location: url.replace('hop', 'ok') });
    if (url.startsWith('/away')) {
      response.writeHead(302, { location: `http://169.254.169.254${url}` });
    }
    response.end('fine');
  });
  // Without keep-alive: the server might close a connection just when it is used again, and that
  // would be no finding.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const host = `127.0.0.1:${port}`;
  const attachment = { name: 'a', sizeBytes: 1, bytes: new Uint8Array(1) };
  return {
    root,
    readOnly,
    outside,
    origin: `http://${host}`,
    backends: {
      storage: new FsStorage(),
      secretsBackend: async (ref) => {
        if (ref.includes('missing')) throw new EthosError('SECRET_NOT_FOUND', `no ${ref}`);
        return `value of ${ref}`;
      },
      personalityFsReach: { read: [root, readOnly], write: [root] },
      personalityNetworkAllow: [host],
      denyPaths: [join(root, 'denied')],
    },
    capabilities: {
      network: { allowedHosts: ['*'] },
      secrets: ['keys/*', { ref: 'sent/*', hosts: ['127.0.0.1'] }],
      storage: { scope: 'session', kind: 'kv' },
      fs_reach: { read: 'from-personality', write: 'from-personality' },
      process: { allowedBinaries: ['true', 'false', 'env', 'absent'] },
      attachments: { mediaTypes: ['text/plain'] },
    },
    attachments: [
      { ...attachment, id: 'text', mediaType: 'text/plain' },
      { ...attachment, id: 'image', mediaType: 'image/png' },
    ],
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
