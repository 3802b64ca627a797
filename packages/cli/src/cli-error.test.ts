import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EthosError } from '@ethosagent/types';
import { afterAll, expect, it } from 'vitest';
import { toldOf } from './cli-error.js';

const root = mkdtempSync(join(tmpdir(), 'cli-error-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

it('tells of a link in a circle where it is', () => {
  const link = join(root, 'link');
  symlinkSync('link', link);
  expect(toldOf(thrownBy(() => readFileSync(link)))).toEqual({
    code: 'CONFIG_INVALID',
    message: `${link}: its links lead in a circle; put the file or folder itself there (ELOOP)`,
  });
});

it.runIf(process.platform === 'linux')(
  'tells of a full disk, which no setting is wrong for',
  () => {
    expect(toldOf(thrownBy(() => writeFileSync('/dev/full', 'x')))).toEqual({
      code: 'STORAGE_FAILED',
      message: 'a file of the home: no space is left; free some and try again (ENOSPC)',
    });
  },
);

it('tells of an error of ours by its code, and not twice', () => {
  const error = new EthosError('STORE_UNAVAILABLE', 'the store is busy');
  expect(toldOf(error)).toEqual({ code: 'STORE_UNAVAILABLE', message: 'the store is busy' });
});

it.each([
  ['a defect', new TypeError('x is not a function')],
  [
    'a server that is not there',
    Object.assign(new Error('no'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  ],
  ['a code that only looks like one', Object.assign(new Error('no'), { code: 'ENOSPC' })],
  ['what is no error', undefined],
])('leaves the stack to %s', (_, error) => {
  expect(toldOf(error)).toBeUndefined();
});
