import { BoundaryError, type ErrorCode, EthosError } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { boundaryFailure } from './boundary-failure.js';

describe('boundaryFailure', () => {
  it('translates a BoundaryError, and says what to do next', () => {
    expect(boundaryFailure(new BoundaryError('write', '/etc/x'))).toEqual({
      ok: false,
      code: 'execution_failed',
      cause: 'PATH_NOT_REACHABLE',
      error:
        "PATH_NOT_REACHABLE: write not permitted for /etc/x. Use a path inside the folders that this agent was given; the operator can add others to fs_reach in the personality's config.yaml.",
    });
  });

  it.each<ErrorCode>(['BINARY_NOT_ALLOWED', 'QUOTA_EXCEEDED'])(
    'translates %s, which no other call will change',
    (code) => {
      expect(boundaryFailure(new EthosError(code, 'x'))).toMatchObject({
        code: 'execution_failed',
        cause: code,
      });
    },
  );

  const codes: ErrorCode[] = [
    'FILE_NOT_FOUND',
    'NOT_A_FILE',
    'NOT_A_DIRECTORY',
    'FILE_TOO_LARGE',
    'PATH_INVALID',
    'PERMISSION_DENIED',
    'DISK_FULL',
    'READ_ONLY',
    'ALREADY_EXISTS',
    'STORAGE_FAILED',
    'SPAWN_FAILED',
    'CALL_ENDED',
    'AUDIT_FAILED',
  ];
  it.each(codes)('translates %s', (code) => {
    const failure = boundaryFailure(new EthosError(code, 'what happened.'));
    expect(failure).toMatchObject({
      ok: false,
      code: 'execution_failed',
      error: expect.stringMatching(new RegExp(`^${code}: what happened\\. [A-Z].*\\.$`)),
    });
  });

  it.each([
    ['an error without a code', new Error('PATH_NOT_REACHABLE: not by its message')],
    ['a code of another family', new EthosError('NETWORK_FAILED', 'x')],
    ['a code of the system', Object.assign(new Error('x'), { code: 'ENOENT' })],
    ['what is no error', { code: 'PATH_NOT_REACHABLE' }],
    ['a text', 'PATH_NOT_REACHABLE: x'],
    ['nothing', undefined],
  ])('leaves %s to the caller', (_what, error) => {
    expect(boundaryFailure(error)).toBeUndefined();
  });
});
