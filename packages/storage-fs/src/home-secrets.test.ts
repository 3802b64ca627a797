import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canOpenKeychain, openKeychain, type TestKeychain } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHomeSecrets } from './home-secrets.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'home-secrets-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const codeOf = (promise: Promise<unknown>) => promise.then(() => 'done', errorCodeOf);

describe('without a keychain', () => {
  const open = () => createHomeSecrets({ home, env: { PATH: process.env.PATH } });

  it('keeps secrets in files', async () => {
    const secrets = open();
    expect(await secrets.hasKeychain()).toBe(false);
    await secrets.set('a/b', 'sesame');
    expect(readFileSync(join(home, 'secrets/a/b'), 'utf8')).toBe('sesame\n');
    expect(await secrets.placeOf('a/b')).toBe('file');
    expect(await secrets.list()).toEqual(['a/b']);
    await secrets.delete('a/b');
    expect(await secrets.placeOf('a/b')).toBeUndefined();
    expect(await codeOf(secrets.get('a/b'))).toBe('SECRET_NOT_FOUND');
  });

  it('stores nothing where it is told to use one, and changes nothing that is there', async () => {
    const secrets = open();
    await secrets.set('a', 'old');
    expect(await codeOf(secrets.set('a', 'new', 'keychain'))).toBe('SECRETS_UNAVAILABLE');
    expect(await secrets.get('a')).toBe('old');
    expect(await codeOf(secrets.set('b', 'new', 'keychain'))).toBe('SECRETS_UNAVAILABLE');
    expect(await secrets.list()).toEqual(['a']);
  });

  it('does not take another program of that name for one that answers', async () => {
    writeFileSync(join(home, 'secret-tool'), '#!/bin/sh\nexit 0\n', { mode: 0o700 });
    const secrets = createHomeSecrets({ home, env: { PATH: home } });
    expect(await secrets.hasKeychain()).toBe(false);
    expect(await codeOf(secrets.set('a', 'value', 'keychain'))).toBe('SECRETS_UNAVAILABLE');
    expect(await secrets.list()).toEqual([]);
  });

  it.each(['../x', '', 'a//b', 'a/../b'])('refuses the ref %j', async (ref) => {
    expect(await codeOf(open().set(ref, 'x', 'keychain'))).toBe('SECRET_NOT_FOUND');
  });
});

// With libsecret, GNOME Keyring and a bus, as on a desktop.
describe.runIf(canOpenKeychain())('with the keychain of a desktop', () => {
  let keychain: TestKeychain;
  beforeAll(async () => {
    keychain = await openKeychain();
  });
  afterAll(() => keychain.close());
  const open = (of = home) => createHomeSecrets({ home: of, env: keychain.env });

  it.each([
    'sesame',
    'two\nlines\n',
    ' \u00e4\u{1f511}"\'$(x)\\ ',
    '--label=x',
    '-',
    'x'.repeat(8_000),
  ])('keeps %j there, and nothing of it in the home', async (value) => {
    const secrets = open();
    expect(await secrets.hasKeychain()).toBe(true);
    await secrets.set('providers/a/key', value, 'keychain');
    expect(await secrets.get('providers/a/key')).toBe(value);
    expect(await secrets.placeOf('providers/a/key')).toBe('keychain');
    expect(await secrets.list()).toEqual(['providers/a/key']);
    expect(existsSync(join(home, 'secrets/providers/a/key'))).toBe(false);
    expect(readFileSync(join(home, 'keychain/providers/a/key'), 'utf8')).toBe(`${home}\n`);
    await secrets.delete('providers/a/key');
    expect(await codeOf(secrets.get('providers/a/key'))).toBe('SECRET_NOT_FOUND');
  });

  it('keeps none that it would cut', async () => {
    const secrets = open();
    expect(await codeOf(secrets.set('a', 'x'.repeat(20_000), 'keychain'))).toBe(
      'SECRETS_UNAVAILABLE',
    );
    expect(await secrets.list()).toEqual([]);
  });

  it('never has a value among the arguments of a program', async () => {
    const log = join(home, 'arguments');
    const bin = join(home, 'bin');
    mkdirSync(bin);
    const real = `PATH='${keychain.env.PATH}' exec secret-tool "$@"`;
    writeFileSync(join(bin, 'secret-tool'), `#!/bin/sh\necho "$@" >> '${log}'\n${real}\n`, {
      mode: 0o700,
    });
    const env = { ...keychain.env, PATH: `${bin}:${keychain.env.PATH}` };
    const secrets = createHomeSecrets({ home, env });
    await secrets.set('a', 'open-sesame', 'keychain');
    expect(await secrets.get('a')).toBe('open-sesame');
    await secrets.delete('a');
    const seen = readFileSync(log, 'utf8');
    expect(seen).toContain('store');
    expect(seen).not.toContain('sesame');
  });

  it('keeps a secret where it is when it is replaced, and moves it when told', async () => {
    const secrets = open();
    await secrets.set('a', 'one', 'keychain');
    await secrets.set('a', 'two');
    expect([await secrets.get('a'), await secrets.placeOf('a')]).toEqual(['two', 'keychain']);
    await secrets.set('a', 'three', 'file');
    expect([await secrets.get('a'), await secrets.placeOf('a')]).toEqual(['three', 'file']);
    expect(readdirSync(join(home, 'keychain'))).toEqual([]);
    await secrets.set('a', 'four', 'keychain');
    expect([await secrets.get('a'), await secrets.placeOf('a')]).toEqual(['four', 'keychain']);
    expect(existsSync(join(home, 'secrets/a'))).toBe(false);
    await secrets.delete('a');
  });

  it('keeps those of two homes apart, and finds them where a home was moved', async () => {
    const [one, two] = [join(home, 'one'), join(home, 'two')];
    await open(one).set('a', 'of one', 'keychain');
    await open(two).set('a', 'of two', 'keychain');
    expect(await open(one).get('a')).toBe('of one');
    renameSync(one, join(home, 'moved'));
    expect(await open(join(home, 'moved')).get('a')).toBe('of one');
    await open(join(home, 'moved')).delete('a');
    expect(await open(two).get('a')).toBe('of two');
    await open(two).delete('a');
  });

  it('keeps all of many that are stored at once', async () => {
    const refs = ['a', 'b'];
    await Promise.all(refs.map((ref) => open().set(ref, `value of ${ref}`, 'keychain')));
    expect(await open().list()).toEqual(refs);
    for (const ref of refs) expect(await open().get(ref)).toBe(`value of ${ref}`);
    await Promise.all(refs.map((ref) => open().delete(ref)));
  });

  it('says so where it is out of reach, or has lost the value', async () => {
    await open().set('a', 'sesame', 'keychain');
    const elsewhere = createHomeSecrets({ home, env: { PATH: keychain.env.PATH } });
    expect(await elsewhere.list()).toEqual(['a']);
    await expect(elsewhere.get('a')).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    expect(await codeOf(elsewhere.delete('a'))).toBe('SECRETS_UNAVAILABLE');
    expect(await open().get('a')).toBe('sesame');
    await open().delete('a');
    mkdirSync(join(home, 'keychain'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'keychain/a'), `${home}\n`, { mode: 0o600 });
    expect(await codeOf(open().get('a'))).toBe('SECRET_NOT_FOUND');
  });
});
