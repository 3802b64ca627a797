import { createServer } from 'node:http';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tarballOf } from './pack.js';
import { type Manifest, readManifest } from './packages.js';
import { obstacleTo, publishAll } from './publish.js';

describe('obstacleTo', () => {
  const at = (url: string) => ({ ...readManifest('.'), repository: { type: 'git', url } });
  const real = 'git+https://forge.test/team/tools.git';

  it.each([
    ['a placeholder', at('git+https://git.example/a/b.git'), undefined, 'placeholder'],
    ['a placeholder with a port', at('https://git.example:8443/a/b.git'), undefined, 'placeholder'],
    ['no address', at(''), 'team/tools', 'differ'],
    ['another repository', at(real), 'fork/tools', 'differ'],
  ])('of %s', (_, manifest, repository, expected) => {
    expect(obstacleTo(manifest, repository)).toContain(expected);
  });

  it('is none for the repository of the workflow', () => {
    expect(obstacleTo(at(real), 'team/tools')).toBeUndefined();
  });
});

describe('publishAll', () => {
  const one: Manifest = { name: '@ethosagent/one', version: '1.0.0', exports: {} };
  const two: Manifest = { name: '@ethosagent/two', version: '1.0.0', exports: {} };

  /** A registry with the same answer to everything, and what it was asked. */
  async function open(status: number, body: unknown) {
    const folder = createTestFolder('publish');
    const asked: string[] = [];
    const server = createServer(({ method, url }, response) => {
      asked.push(`${method} ${url}`);
      response.writeHead(status).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
      folder.remove();
    });
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const registry = `http://127.0.0.1:${port}/`;
    return { folder, asked, options: { tarballs: folder.dir, registry, provenance: false } };
  }

  it('asks for nothing where a tarball is missing', async () => {
    const { folder, asked, options } = await open(404, {});
    folder.put(tarballOf(one), '');
    await expect(publishAll([one, two], options)).rejects.toThrow('ethosagent-two-1.0.0.tgz');
    expect(asked).toEqual([]);
  });

  it('stops where the registry does not say what it has', async () => {
    const { folder, asked, options } = await open(500, {});
    folder.put(tarballOf(one), '');
    await expect(publishAll([one], options)).rejects.toThrow('answers 500 for @ethosagent/one');
    expect(asked).toEqual(['GET /@ethosagent%2fone']);
  });

  it('publishes no version a second time', async () => {
    const { folder, asked, options } = await open(200, { versions: { '1.0.0': {} } });
    folder.put(tarballOf(one), '');
    expect(await publishAll([one], options)).toEqual([]);
    expect(asked).toEqual(['GET /@ethosagent%2fone']);
  });
});
