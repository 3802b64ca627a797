import { EthosError } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { storageError } from './errno.js';

function systemError(code: string): Error {
  const message = `${code}: open '/proc/self/fd/20/.ethos-tmp'`;
  return Object.assign(new Error(message), { code, syscall: 'open', path: '/outside/secret' });
}

describe('storageError', () => {
  it.each([
    ['ENOENT', 'FILE_NOT_FOUND'],
    ['EISDIR', 'NOT_A_FILE'],
    ['ENXIO', 'NOT_A_FILE'],
    ['ENOTDIR', 'NOT_A_DIRECTORY'],
    ['EACCES', 'PERMISSION_DENIED'],
    ['EPERM', 'PERMISSION_DENIED'],
    ['ENOSPC', 'DISK_FULL'],
    ['EDQUOT', 'DISK_FULL'],
    ['EROFS', 'READ_ONLY'],
    ['EFBIG', 'FILE_TOO_LARGE'],
    ['ENAMETOOLONG', 'PATH_INVALID'],
    ['EEXIST', 'ALREADY_EXISTS'],
    ['ENOTEMPTY', 'ALREADY_EXISTS'],
    ['EXDEV', 'STORAGE_FAILED'],
    ['EIO', 'STORAGE_FAILED'],
    ['EMFILE', 'STORAGE_FAILED'],
  ])('storageError maps %s to %s and names only the path asked for', (errno, code) => {
    const mapped = storageError(systemError(errno), 'write', '/data/file');
    expect(mapped).toBeInstanceOf(EthosError);
    expect(mapped).toMatchObject({ code });
    expect(String(mapped)).toContain('write /data/file');
    expect(String(mapped)).toContain(errno);
    expect(String(mapped)).not.toMatch(/proc|outside|tmp/);
    expect(mapped).not.toHaveProperty('cause');
  });

  it('storageError leaves every other error as it is', () => {
    for (const error of [new TypeError('x'), new EthosError('DISK_FULL', 'x'), 'text', null]) {
      expect(storageError(error, 'read', '/data/file')).toBe(error);
    }
  });
});
