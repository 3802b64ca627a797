import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { MemoryAuditSink } from '@ethosagent/audit';
import { isLongRun } from '@ethosagent/test-support';
import type { AuditEvent, QuotaLimits, QuotaPolicy } from '@ethosagent/types';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTool, ok, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

const LOOK = `
  const http = require('node:http');
  const [proxy, ...urls] = [new URL(process.env.HTTP_PROXY), ...process.argv.slice(1)];
  for (const path of urls) {
    http.get({ host: proxy.hostname, port: proxy.port, path, headers: { host: new URL(path).host } }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk)).on('end', () => console.log(answer.statusCode, text));
    }).on('error', (error) => console.log(error.code));
  }`;

describe('a sandboxed process of a tool that declares network', () => {
  const asked: string[] = [];
  const servers: Server[] = [];
  let allowed = 0;
  let other = 0;
  beforeAll(async () => {
    const listen = (name: string) =>
      new Promise<number>((resolve) => {
        const server = createServer((request, response) => {
          asked.push(`${name} ${request.url}`);
          response.end(name);
        });
        servers.push(server);
        server.listen(0, '127.0.0.1', () => {
          const address = server.address();
          resolve(typeof address === 'object' ? (address?.port ?? 0) : 0);
        });
      });
    [allowed, other] = [await listen('allowed'), await listen('other')];
  });
  afterAll(() => {
    for (const server of servers) server.close();
  });
  beforeEach(() => {
    asked.length = 0;
  });

  const proxies = () => readdirSync('/dev/shm').filter((name) => name.startsWith('ethos-proxy-'));

  async function run(
    hosts: string[] | undefined,
    args: () => string[],
    personalityQuotas: QuotaPolicy = {},
  ) {
    const audit = new MemoryAuditSink();
    const registry = new DefaultToolRegistry({
      personalityProcess: { sandbox: true },
      personalityNetworkAllow: hosts ?? [],
      personalityQuotas,
      audit,
    });
    registry.register(
      makeTool(
        'look',
        async (_args, ctx) => {
          const result = await ctx.scopedProcess?.spawn('node', args());
          return ok(JSON.stringify(result));
        },
        {
          capabilities: {
            process: { allowedBinaries: ['node'] },
            ...(hosts !== undefined && { network: { allowedHosts: ['*'] } }),
          },
        },
      ),
    );
    const answer = await runOne(registry, 'look');
    const events = audit.events.map(
      ({ capability, operation, target, decision, reason }: AuditEvent) =>
        `${capability} ${operation} ${target} ${decision}: ${reason}`,
    );
    return { result: answer.ok ? JSON.parse(answer.value) : answer, events };
  }

  it('reaches a host of its call through the proxy, and no other', async () => {
    const before = new Set(proxies());
    const url = (port: number) => `http://127.0.0.1:${port}/path`;
    const { result, events } = await run([`127.0.0.1:${allowed}`], () => [
      '-e',
      LOOK,
      url(allowed),
      url(other),
    ]);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout).toContain('200 allowed\n');
    expect(result.stdout).toContain('403 HOST_NOT_ALLOWED');
    expect(asked).toEqual(['allowed /path']);
    expect(events).toHaveLength(3);
    expect(events).toEqual(
      expect.arrayContaining([
        `network proxy http://127.0.0.1:${allowed}/ allowed: matched 127.0.0.1:${allowed}`,
        expect.stringMatching(`network proxy http://127.0.0.1:${other}/ denied: `),
        'process spawn node allowed: declared as node, sandboxed',
      ]),
    );
    await expect.poll(() => proxies().filter((name) => !before.has(name))).toEqual([]);
  });

  it.each<[name: string, caps: QuotaLimits, answers: string[], rule: string]>([
    ['requests', { requests: 1 }, ['200', '403'], 'quota per_call.requests'],
    ['bytes_out', { bytes_out: 0 }, ['403', '403'], 'quota per_call.bytes_out'],
  ])('spends the %s of its call', async (_name, caps, answers, rule) => {
    const url = `http://127.0.0.1:${allowed}/`;
    const quotas = { per_call: caps };
    const { result, events } = await run(
      [`127.0.0.1:${allowed}`],
      () => ['-e', LOOK, url, url],
      quotas,
    );
    const statuses = result.stdout.match(/^\d{3}/gm);
    expect(statuses.sort()).toEqual(answers);
    expect(result.stdout).toContain('QUOTA_EXCEEDED');
    expect(asked).toHaveLength(answers.filter((status) => status === '200').length);
    expect(events).toContain(`network proxy ${url} denied: ${rule}`);
  });

  it('spends the bytes_in of its call', async () => {
    const url = `http://127.0.0.1:${allowed}/`;
    const { result } = await run([`127.0.0.1:${allowed}`], () => ['-e', LOOK, url], {
      per_call: { bytes_in: 3 },
    });
    expect(result.stdout).not.toContain('200 allowed');
    expect(asked).toEqual(['allowed /']);
  });

  it('reaches nothing past the proxy', async () => {
    const direct = `require('node:net').connect(${allowed}, '127.0.0.1').on('error', (e) => console.log(e.code))`;
    const { result } = await run([`127.0.0.1:${allowed}`], () => ['-e', direct]);
    expect(result.stdout).toBe('ECONNREFUSED\n');
    expect(asked).toEqual([]);
  });

  it.each<[name: string, hosts: string[] | undefined]>([
    ['whose set of hosts is empty', []],
    ['that is not declared', undefined],
  ])('has no proxy for a network %s', async (_name, hosts) => {
    const { result } = await run(hosts, () => ['-p', 'String(process.env.http_proxy)']);
    expect(result.stdout).toBe(`${process.env.http_proxy}\n`);
  });

  it.runIf(isLongRun()).each<[name: string, code: string, expected: object]>([
    ['an exit code', 'process.exit(3)', { exitCode: 3 }],
    ['a signal', 'process.kill(process.pid, "SIGKILL")', { exitCode: 137, signal: 'SIGKILL' }],
    ['both streams', 'console.log(1); console.error(2)', { stdout: '1\n', stderr: '2\n' }],
  ])('passes on %s', async (_name, code, expected) => {
    const { result } = await run(['example.com'], () => ['-e', code]);
    expect(result).toMatchObject(expected);
  });
});
