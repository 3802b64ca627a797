import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { isLongRun } from '@ethosagent/test-support';
import { EthosError } from '@ethosagent/types';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import {
  type LoopbackServer,
  rejection,
  startServer,
  startTcpServer,
  until,
} from './testing/loopback.js';

const servers: LoopbackServer[] = [];
const keep = async (server: Promise<LoopbackServer>) => {
  servers.push(await server);
  return server;
};

let guard: NetworkGuard;
beforeAll(() => {
  guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => guard.close());

const codeOf = async (promise: Promise<unknown>) => {
  const error = await rejection(promise);
  if (!(error instanceof EthosError)) throw new Error('not an EthosError', { cause: error });
  return error.code;
};

describe('NetworkGuard.fetch, size', () => {
  const readers: [string, (response: Response) => Promise<unknown>][] = [
    ['text()', (response) => response.text()],
    ['json()', (response) => response.json()],
    ['arrayBuffer()', (response) => response.arrayBuffer()],
    ['blob()', (response) => response.blob()],
    [
      'clone().text()',
      (response) => {
        const clone = response.clone();
        response.body?.cancel().catch(() => {});
        return clone.text();
      },
    ],
    [
      'a reader',
      async (response) => {
        const reader = response.body?.getReader();
        while (reader && !(await reader.read()).done) {
          // Reads to the end.
        }
      },
    ],
  ];
  it.each(readers)('answers a body above the cap with BODY_TOO_LARGE from %s', async (_, read) => {
    const server = await keep(
      startServer((_, response) => response.end(Buffer.alloc(300_001, 49))),
    );
    const response = guard.fetch(server.origin, {}, { maxBodyBytes: 300_000 });
    expect(await codeOf(response.then(read))).toBe('BODY_TOO_LARGE');
    await until(() => server.open === 0);
  });

  it('lets fetch check the integrity of a large body', async () => {
    const body = Buffer.alloc(300_000, 'x');
    const server = await keep(startServer((_, response) => response.end(body)));
    const integrity = `sha256-${createHash('sha256').update(body).digest('base64')}`;
    const response = await guard.fetch(server.origin, { integrity });
    expect(await response.text()).toBe(String(body));
    const wrong = `sha256-${createHash('sha256').update('x').digest('base64')}`;
    expect(await codeOf(guard.fetch(server.origin, { integrity: wrong }))).toBe('NETWORK_FAILED');
  });

  it('passes a body of exactly the cap', async () => {
    const server = await keep(startServer((_, response) => response.end(Buffer.alloc(300_000))));
    const response = await guard.fetch(server.origin, {}, { maxBodyBytes: 300_000 });
    expect((await response.arrayBuffer()).byteLength).toBe(300_000);
  });

  it.each(['/plain', '/gzip'])(
    'refuses the body of %s under a cap that is no number',
    async (path) => {
      const server = await keep(
        startServer((request, response) => {
          const isEncoded = request.url === '/gzip';
          if (isEncoded) response.setHeader('content-encoding', 'gzip');
          response.end(isEncoded ? gzipSync('hello') : 'hello');
        }),
      );
      const response = guard.fetch(server.origin + path, {}, { maxBodyBytes: Number.NaN });
      expect(await codeOf(response.then((r) => r.text()))).toBe('BODY_TOO_LARGE');
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('counts a body of %s after decoding', async (encoding, compress) => {
    const server = await keep(
      startServer((request, response) => {
        response.setHeader('Content-Encoding', encoding);
        response.end(compress(Buffer.alloc(Number(request.url?.slice(1)), 'x')));
      }),
    );
    const limits = { maxBodyBytes: 300_000 };
    const response = await guard.fetch(`${server.origin}/300000`, {}, limits);
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.url).toBe(`${server.origin}/300000`);
    expect(response.clone().url).toBe(`${server.origin}/300000`);
    expect(await response.text()).toBe('x'.repeat(300_000));
    const large = guard.fetch(`${server.origin}/300001`, {}, limits);
    expect(await codeOf(large.then((r) => r.text()))).toBe('BODY_TOO_LARGE');
  });

  it('ends a bomb that unpacks to far more than its cap within 50 MB of memory', async () => {
    const unpacked = isLongRun() ? 512 : 64;
    const bomb = gzipSync(Buffer.alloc(unpacked * 1024 * 1024));
    const server = await keep(
      startServer((_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(bomb);
      }),
    );
    const before = process.memoryUsage();
    let peak = 0;
    const response = await guard.fetch(server.origin, {}, { maxBodyBytes: 10 * 1024 * 1024 });
    const reader = response.body?.getReader();
    const error = await rejection(
      (async () => {
        while (reader && !(await reader.read()).done) {
          const { heapUsed, arrayBuffers } = process.memoryUsage();
          peak = Math.max(peak, heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers);
        }
      })(),
    );
    expect(error).toMatchObject({ code: 'BODY_TOO_LARGE' });
    expect(peak).toBeLessThan(50 * 1024 * 1024);
    await until(() => server.open === 0);
  });

  it('refuses a thousand content encodings', async () => {
    for (const value of [Array(1_000).fill('gzip').join(','), Array(400).fill('gzip')]) {
      const server = await keep(
        startServer((_, response) => {
          response.setHeader('content-encoding', value);
          response.end('x');
        }),
      );
      expect(await codeOf(guard.fetch(server.origin))).toBe('NETWORK_FAILED');
      await until(() => server.open === 0);
    }
  });

  it('answers a body that does not decode with NETWORK_FAILED', async () => {
    const server = await keep(
      startServer((_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end('this is not gzip');
      }),
    );
    expect(await codeOf(guard.fetch(server.origin).then((r) => r.text()))).toBe('NETWORK_FAILED');
  });

  it('ends an endless body at the cap', async () => {
    const server = await keep(
      startServer((_, response) => {
        const chunk = Buffer.alloc(65_536);
        const write = () => {
          while (!response.destroyed && response.write(chunk));
          response.once('drain', write);
        };
        write();
      }),
    );
    const text = guard.fetch(server.origin, {}, { maxBodyBytes: 1_000_000 }).then((r) => r.text());
    expect(await codeOf(text)).toBe('BODY_TOO_LARGE');
    await until(() => server.open === 0);
  });
});

describe('NetworkGuard.fetch, time', () => {
  const limits = { timeoutMs: 150 };

  /**
   * @param meanwhile what happens between the headers and the deadline
   * @returns a response whose headers came in time, on any machine, and whose deadline has passed
   */
  const answeredInTime = async (
    url: string,
    meanwhile?: () => Promise<void>,
  ): Promise<Response> => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const response = await guard.fetch(url, {}, limits);
      await meanwhile?.();
      vi.advanceTimersByTime(limits.timeoutMs);
      return response;
    } finally {
      vi.useRealTimers();
    }
  };

  it('answers headers that never come with NETWORK_TIMEOUT', async () => {
    const server = await keep(startServer(() => {}));
    expect(await codeOf(guard.fetch(server.origin, {}, limits))).toBe('NETWORK_TIMEOUT');
    await until(() => server.open === 0);
  });

  it('answers headers that come bit by bit with NETWORK_TIMEOUT', async () => {
    const server = await keep(
      startTcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('x-a: b\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    expect(await codeOf(guard.fetch(server.origin, {}, limits))).toBe('NETWORK_TIMEOUT');
    await until(() => server.open === 0);
  });

  it('answers informational responses without end with NETWORK_TIMEOUT', async () => {
    const server = await keep(
      startTcpServer((socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    expect(await codeOf(guard.fetch(server.origin, {}, limits))).toBe('NETWORK_TIMEOUT');
    await until(() => server.open === 0);
  });

  it.each([
    ['identity', undefined],
    ['gzip', 'gzip'],
  ])('answers a body (%s) of a byte at a time with NETWORK_TIMEOUT', async (_, encoding) => {
    const server = await keep(
      startServer((_, response) => {
        if (encoding) response.setHeader('content-encoding', encoding);
        response.write(encoding ? gzipSync('hello').subarray(0, 12) : 'x');
        const timer = setInterval(() => !encoding && response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const response = await answeredInTime(server.origin);
    expect(response.status).toBe(200);
    expect(await codeOf(response.text())).toBe('NETWORK_TIMEOUT');
    await until(() => server.open === 0);
  });

  it('closes the socket of a body that nobody reads', async () => {
    const server = await keep(startServer((_, response) => response.write(Buffer.alloc(1e6))));
    const response = await answeredInTime(server.origin);
    await until(() => server.open === 0);
    expect(await codeOf(response.text())).toBe('NETWORK_TIMEOUT');
  });

  it('counts all redirects of a request together', async () => {
    const server = await keep(
      startServer((_, response) => {
        setTimeout(() => {
          response.writeHead(302, { location: '/' });
          response.end();
        }, 60);
      }),
    );
    expect(await codeOf(guard.fetch(server.origin, {}, limits))).toBe('NETWORK_TIMEOUT');
  });

  it('answers a resolver that hangs with NETWORK_TIMEOUT', async () => {
    const hanging = createNetworkGuard({
      allowedHosts: ['*'],
      policy: {},
      lookup: () => new Promise(() => {}),
    });
    expect(await codeOf(hanging.fetch('http://a.test/', {}, limits))).toBe('NETWORK_TIMEOUT');
  });

  it('leaves a body alone that had come in time', async () => {
    const server = await keep(
      startServer((_, response) => response.setHeader('connection', 'close').end('hello')),
    );
    const response = await answeredInTime(server.origin, async () => {
      while (server.open > 0) await setImmediate();
      // The server has sent it, and the next turns of the loop read it.
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    });
    expect(await response.text()).toBe('hello');
  });
});

describe('NetworkGuard.fetch, failures', () => {
  it.each([
    ['no server', () => undefined],
    ['a closed connection', () => startTcpServer((socket) => socket.destroy())],
    ['nonsense', () => startTcpServer((socket) => socket.end('220 smtp.test ESMTP\r\n'))],
    [
      'a header of 100 KB',
      () =>
        startTcpServer((socket) => socket.end(`HTTP/1.1 200 OK\r\na: ${'b'.repeat(1e5)}\r\n\r\n`)),
    ],
  ])('answers %s with NETWORK_FAILED, which names the host alone', async (_, start) => {
    const server = await keep(start() ?? startServer(() => {}));
    if (!start()) await server.close();
    const error = await rejection(guard.fetch(`${server.origin}/secret?secret`));
    expect(error).toMatchObject({ code: 'NETWORK_FAILED', cause: expect.any(Error) });
    expect(String(error)).toContain(`127.0.0.1:${server.port}`);
    expect(String(error)).not.toContain('secret');
  });

  it('answers a body that breaks off with NETWORK_FAILED from reading it', async () => {
    const server = await keep(
      startTcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello');
        setTimeout(() => socket.destroy(), 20);
      }),
    );
    const response = await guard.fetch(server.origin);
    expect(await codeOf(response.text())).toBe('NETWORK_FAILED');
  });

  it('goes on after a failure', async () => {
    let fails = true;
    const server = await keep(
      startServer((_, response) => (fails ? response.destroy() : response.end('hello'))),
    );
    expect(await codeOf(guard.fetch(server.origin))).toBe('NETWORK_FAILED');
    fails = false;
    expect(await (await guard.fetch(server.origin)).text()).toBe('hello');
  });
});
