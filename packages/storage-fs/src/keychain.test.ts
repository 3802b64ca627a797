import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleScript } from '@ethosagent/test-support';
import { expect, it, onTestFinished } from 'vitest';
import { Keychain } from './keychain.js';

it('a keychain that does not answer is given up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keychain-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'secret-tool'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o700 });
  const keychain = new Keychain({ PATH: `${folder}:${process.env.PATH}` }, 1);
  await expect(keychain.get({ owner: 'a', ref: 'b' })).rejects.toThrow('no answer in time');
  expect(await keychain.isThere()).toBe(false);
});

it('without the program for it, nothing keeps the process alive', async () => {
  const module = pathToFileURL(await bundleScript(new URL('./keychain.ts', import.meta.url)));
  const script = `import { Keychain } from '${module}';
    const isThere = await new Keychain({ PATH: '' }).isThere();
    const timers = process.getActiveResourcesInfo().filter((each) => each === 'Timeout');
    process.stdout.write(JSON.stringify({ isThere, timers }));`;
  const node = [process.execPath, ['--input-type=module', '--eval', script]] as const;
  const { stdout } = await promisify(execFile)(...node);
  expect(JSON.parse(stdout)).toEqual({ isThere: false, timers: [] });
});
