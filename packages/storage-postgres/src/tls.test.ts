import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { errorCodeOf } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PostgresOptions } from './database/options.js';
import { createPostgresStores } from './postgres-stores.js';

/** The bytes with which TLS begins in PostgreSQL's protocol. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);

let folder: string;
let key: Buffer;
let cert: Buffer;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pg-tls-'));
  const [keyFile, certFile] = [join(folder, 'key'), join(folder, 'cert')];
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
      ...['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.2', '-days', '2'],
      ...['-keyout', keyFile, '-out', certFile],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  key = readFileSync(keyFile);
  cert = readFileSync(certFile);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server that tells whether it supports TLS, and closes the connection after the next bytes. */
async function serverAt(host: string, hasTls: boolean) {
  const plain: Buffer[] = [];
  const encrypted: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (first: Buffer) => {
      plain.push(first);
      if (!first.equals(TLS_REQUEST)) {
        socket.destroy();
      } else if (hasTls) {
        socket.write('S');
        const secure = new TLSSocket(socket, { isServer: true, key, cert });
        secure.on('error', () => {});
        secure.on('data', (data: Buffer) => {
          encrypted.push(data);
          secure.destroy();
        });
      } else {
        socket.on('data', (data: Buffer) => plain.push(data));
        socket.write('N');
      }
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://someone:secretword@${host}:${port}/db`,
    plain: () => Buffer.concat(plain),
    encrypted: () => Buffer.concat(encrypted).toString('latin1'),
  };
}

const openedBy = (options: PostgresOptions) =>
  createPostgresStores(options)
    .memory.open()
    .then(
      () => undefined,
      (error: unknown) => error,
    );

describe('createPostgresStores and TLS', () => {
  it('tells nothing to another host without TLS', async () => {
    const { url, plain } = await serverAt('127.0.0.2', false);
    const error = await openedBy({ url });
    expect(errorCodeOf(error)).toBe('STORE_UNAVAILABLE');
    expect(plain()).toEqual(TLS_REQUEST);
  });

  it('tells nothing to a host whose certificate nobody vouches for', async () => {
    const { url, plain, encrypted } = await serverAt('127.0.0.2', true);
    const error = await openedBy({ url });
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/\(DEPTH_ZERO_SELF_SIGNED_CERT\); check the certificate/),
    });
    expect(plain()).toEqual(TLS_REQUEST);
    expect(encrypted()).toBe('');
  });

  it('talks to one that its CA vouches for', async () => {
    const { url, plain, encrypted } = await serverAt('127.0.0.2', true);
    await openedBy({ url, tls: { ca: cert } });
    expect(plain()).toEqual(TLS_REQUEST);
    expect(encrypted()).toContain('someone');
  });

  it.each([
    ['this machine', '127.0.0.1', {}, ''],
    ['a host by sslmode', '127.0.0.2', {}, '?sslmode=disable'],
    ['a host by tls', '127.0.0.2', { tls: false }, ''],
  ] as const)('talks to %s without TLS', async (_, host, options, more) => {
    const { url, plain } = await serverAt(host, true);
    await openedBy({ url: url + more, ...options });
    expect(plain().toString('latin1')).toContain('someone');
  });

  it.each(['sslmode=disable', 'ssl=0', 'sslrootcert=/x'])(
    'refuses tls beside %s, which would win',
    (more) => {
      const url = `postgresql://host/db?${more}`;
      expect(() => createPostgresStores({ url, tls: { ca: cert } })).toThrow(/CONFIG_INVALID/);
    },
  );
});
