import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type AttackedFetch,
  type CountingServer,
  type CreateFetch,
  startServer,
  toLoopback,
} from './fetch-world.js';

/** Tests that no request that a policy allows is refused, in every honest spelling. */
export function honestRequests(create: CreateFetch): void {
  let server: CountingServer;
  let attacked: AttackedFetch;

  beforeAll(async () => {
    server = await startServer((request, response) => response.end(request.url));
    const hosts = ['api.example', '*.Wild.example', 'b\u00fccher.example', '127.0.0.1'];
    attacked = await create({
      allowedHosts: hosts,
      policy: { allow: [...hosts, 'elsewhere.example'], allow_private_urls: true },
      lookup: toLoopback,
    });
  });
  afterAll(async () => {
    await attacked.close?.();
    await server.close();
  });

  it.each([
    'api.example',
    'API.example',
    'api.example.',
    'a\u00adpi.example',
    '\uff41pi.example',
    'api%2Eexample',
    'a.wild.example',
    'a.b.WILD.example',
    'xn--bcher-kva.example',
    'B\u00dccher.example',
    '127.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
  ])('reaches %s', async (host) => {
    for (const url of [
      `http://${host}:PORT/a?b=c#d`,
      ` http://${host}:PORT/a?b=c\n`,
      `HTTP://${host}:PORT/x/../a?b=c`,
    ]) {
      const { scopedFetch } = attacked;
      const response = await scopedFetch.fetch(url.replace('PORT', String(server.port)));
      expect(await response.text()).toBe('/a?b=c');
    }
    const asUrl = new URL(`http://${host}:${server.port}/y`);
    expect((await attacked.scopedFetch.fetch(asUrl)).status).toBe(200);
  });

  it.each(['GET', 'get', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])(
    'sends a %s',
    async (method) => {
      const url = `http://api.example:${server.port}/`;
      expect((await attacked.scopedFetch.fetch(url, { method })).status).toBe(200);
    },
  );
}
