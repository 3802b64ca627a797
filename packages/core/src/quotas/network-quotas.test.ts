import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { MemoryAuditSink } from '@ethosagent/audit';
import { countTries, tries } from '@ethosagent/test-support';
import { errorCodeOf, type QuotaPolicy, type ScopedFetch } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

/** A server on loopback that records the path of each request. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    answer(request, response);
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { seen, connections: () => connections, base: `http://127.0.0.1:${port}` };
}

type Body = (scopedFetch: ScopedFetch) => Promise<unknown>;

/** A registry with one tool that fetches from loopback. */
function world(personalityQuotas: QuotaPolicy, body: Body) {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({
    personalityQuotas,
    audit,
    personalityNetworkAllow: ['127.0.0.1'],
  });
  registry.register(
    makeTool(
      't',
      async (_, { scopedFetch }) =>
        ok(JSON.stringify(scopedFetch && (await body(scopedFetch).catch(codeOf)))),
      { capabilities: { network: { allowedHosts: ['127.0.0.1'] } } },
    ),
  );
  return {
    registry,
    audit,
    decisions: () =>
      audit.events.map(({ decision, reason }) => (decision === 'allowed' ? decision : reason)),
    async call(sessionId = 's') {
      const result = await runOne(registry, 't', {}, { sessionId });
      return result.ok ? JSON.parse(result.value) : result.error;
    },
  };
}

const codeOf = (error: unknown) => errorCodeOf(error) ?? String(error);
const text = async (response: Promise<Response>) => (await response).text();

describe('requests', () => {
  it('100 calls of four batches race for 7: 7 reach the server', async (context) => {
    const rounds = tries({ check: 2, long: 50 });
    for (let round = 0; round < rounds; round++) {
      const { base, seen } = await serve((_, response) => response.end('hello'));
      const { registry, decisions } = world({ per_session: { requests: 7 } }, (scoped) =>
        text(scoped.fetch(base)),
      );
      const batches = [0, 1, 2, 3].map(() =>
        registry.executeParallel(
          Array.from({ length: 25 }, (_, n) => ({ toolCallId: `${n}`, name: 't', args: {} })),
          batchContext(),
        ),
      );
      const results = (await Promise.all(batches)).flat().map(({ result }) => result);
      const values = results.map((result) => (result.ok ? JSON.parse(result.value) : result));
      expect(values.filter((value) => value === 'hello')).toHaveLength(7);
      expect(values.filter((value) => value === 'QUOTA_EXCEEDED')).toHaveLength(93);
      expect(seen).toHaveLength(7);
      expect(decisions().sort()).toEqual([
        ...Array(7).fill('allowed'),
        ...Array(93).fill('quota per_session.requests'),
      ]);
    }
    countTries(context, 'quotas', rounds * 100);
  });

  it('counts each redirect as one more', async () => {
    const { base, seen } = await serve((request, response) => {
      const next = { '/1': '/2', '/2': '/3' }[request.url ?? ''];
      if (next === undefined) response.end('there');
      else response.writeHead(302, { location: next }).end();
    });
    const under = (requests: number) =>
      world({ per_call: { requests } }, (scoped) => text(scoped.fetch(`${base}/1`)));
    const short = under(2);
    expect(await short.call()).toBe('QUOTA_EXCEEDED');
    expect(seen).toEqual(['/1', '/2']);
    expect(short.decisions()).toEqual(['allowed', 'allowed', 'quota per_call.requests']);
    expect(await under(3).call()).toBe('there');
  });

  it('of 0 connect to nothing', async () => {
    const { base, connections } = await serve((_, response) => response.end());
    const { call } = world({ per_call: { requests: 0 } }, (scoped) => text(scoped.fetch(base)));
    expect(await call()).toBe('QUOTA_EXCEEDED');
    expect(connections()).toBe(0);
  });

  it('are not used by what another rule refuses', async () => {
    const { base } = await serve((_, response) => response.end('hello'));
    const { call } = world({ per_call: { requests: 1, bytes_out: 1000 } }, async (scoped) => [
      await scoped.fetch('http://127.0.0.2/').catch(codeOf),
      await scoped.fetch('not a URL').catch(codeOf),
      await scoped.fetch(base, { headers: { host: 'evil.example' } }).catch(codeOf),
      await text(scoped.fetch(base)),
      await scoped.fetch(base).catch(codeOf),
      await scoped.fetch('http://127.0.0.2/').catch(codeOf),
    ]);
    expect(await call()).toEqual([
      'HOST_NOT_ALLOWED',
      'HOST_NOT_ALLOWED',
      'HOST_NOT_ALLOWED',
      'hello',
      'QUOTA_EXCEEDED',
      'HOST_NOT_ALLOWED',
    ]);
  });
});

describe('bytes_in', () => {
  it('cut an endless body where they run out, and close its connection', async () => {
    let closed: Promise<unknown> | undefined;
    const { base } = await serve((_, response) => {
      closed = once(response, 'close');
      const write = () => {
        while (response.write('x'.repeat(1000)));
      };
      response.on('drain', write);
      write();
    });
    let got = 0;
    const { call, decisions } = world({ per_session: { bytes_in: 100_000 } }, async (scoped) => {
      const response = await scoped.fetch(base);
      try {
        for await (const chunk of response.body ?? []) got += chunk.length;
      } catch (error) {
        return [codeOf(error), await scoped.fetch(base).then(({ status }) => status, codeOf)];
      }
      return 'it ended';
    });
    expect((await call())[0]).toBe('QUOTA_EXCEEDED');
    expect(got).toBeLessThanOrEqual(100_000);
    await closed;
    expect(decisions()[0]).toBe('allowed');
  });

  it.each([
    ['plain', 'fits exactly', 5000, (text: string) => text],
    ['gzip', 'fits exactly once decoded', 5000, (text: string) => gzipSync(text)],
  ])('count a body that is %s and %s', async (encoding, _fits, size, encode) => {
    const { base } = await serve((_, response) => {
      if (encoding === 'gzip') response.setHeader('content-encoding', 'gzip');
      response.end(encode('x'.repeat(size)));
    });
    const under = (bytes_in: number) =>
      world({ per_call: { bytes_in } }, async (scoped) => (await text(scoped.fetch(base))).length);
    expect(await under(size).call()).toBe(size);
    expect(await under(size - 1).call()).toBe('QUOTA_EXCEEDED');
  });

  it('are shared by the session, and another session has its own', async () => {
    const { base } = await serve((_, response) => response.end('x'.repeat(400)));
    const { call } = world({ per_session: { bytes_in: 1000 } }, async (scoped) =>
      text(scoped.fetch(base)),
    );
    expect((await call()).length).toBe(400);
    expect((await call()).length).toBe(400);
    expect(await call()).toBe('QUOTA_EXCEEDED');
    expect((await call('another')).length).toBe(400);
  });
});

describe('bytes_out', () => {
  it('refuse a body that is larger, and nothing is sent', async () => {
    const { base, connections } = await serve((_, response) => response.end('got it'));
    const send = (size: number) =>
      world({ per_call: { bytes_out: 1000 } }, (scoped) =>
        text(scoped.fetch(base, { method: 'POST', body: 'x'.repeat(size) })),
      );
    const refused = send(1000);
    expect(await refused.call()).toBe('QUOTA_EXCEEDED');
    expect(refused.decisions()).toEqual(['quota per_call.bytes_out']);
    expect(connections()).toBe(0);
    expect(await send(500).call()).toBe('got it');
  });

  it('count the URL and the headers', async () => {
    const { base, connections } = await serve((_, response) => response.end('got it'));
    const quotas = { per_call: { bytes_out: 500 } };
    const long = 'x'.repeat(600);
    for (const [url, init] of [
      [`${base}/?q=${long}`, {}],
      [base, { headers: { 'x-note': long } }],
    ] as const) {
      const { call } = world(quotas, (scoped) => text(scoped.fetch(url, init)));
      expect(await call()).toBe('QUOTA_EXCEEDED');
    }
    expect(connections()).toBe(0);
  });
});
