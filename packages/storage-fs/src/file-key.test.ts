import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFileKey } from './file-key.js';
import { createFileSecrets } from './file-secrets.js';

function secretsFolder(): string {
  const folder = createTestFolder('file-key');
  onTestFinished(folder.remove);
  return join(folder.dir, 'home', 'secrets');
}

const open = (dir: string) => openFileKey({ dir, name: 'audit-log' });

describe('openFileKey', () => {
  it('makes a key for the owner alone, once', async () => {
    const dir = secretsFolder();
    const first = await open(dir);
    expect(first).toEqual({ key: expect.stringMatching(/^[0-9a-f]{64}$/), isNew: true });
    expect(await open(dir)).toEqual({ key: first.key, isNew: false });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, '~audit-log.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['~audit-log.key']);
  });

  it('gives all that come at once the same key, which one of them made', async () => {
    const dir = secretsFolder();
    const keys = await Promise.all(Array.from({ length: 20 }, () => open(dir)));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(1);
    expect(keys.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(readdirSync(dir)).toEqual(['~audit-log.key']);
  });

  it('is no secret: no ref names it', async () => {
    const dir = secretsFolder();
    await open(dir);
    const secrets = createFileSecrets({ dir });
    expect(await secrets.list()).toEqual([]);
    await expect(secrets.get('~audit-log.key')).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
  });

  it.each<[string, (file: string, dir: string) => void]>([
    ['that others may read', (file) => chmodSync(file, 0o644)],
    ['in a folder in which others may write', (_file, dir) => chmodSync(dir, 0o777)],
  ])('refuses a key %s', async (_what, spoil) => {
    const dir = secretsFolder();
    await open(dir);
    spoil(join(dir, '~audit-log.key'), dir);
    await expect(open(dir)).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
  });

  it('refuses a link, and makes none in a folder in which others may write', async () => {
    const dir = secretsFolder();
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'elsewhere'), 'x'.repeat(64), { mode: 0o600 });
    symlinkSync(join(dir, 'elsewhere'), join(dir, '~audit-log.key'));
    await expect(open(dir)).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
    const shared = secretsFolder();
    mkdirSync(shared, { recursive: true });
    chmodSync(shared, 0o777);
    await expect(open(shared)).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
    expect(readdirSync(shared)).toEqual([]);
  });
});
