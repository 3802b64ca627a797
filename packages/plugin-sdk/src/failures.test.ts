import { BoundaryError, CapabilityError, EthosError } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { failureOf, withFailures } from './failures.js';
import { ok } from './tool-helpers.js';

const answers = {
  PATH_NOT_REACHABLE: 'Use another path.',
  FILE_NOT_FOUND: ['input_invalid', 'Give another path.'],
  SPAWN_FAILED: ['not_available', ''],
} as const;

describe('failureOf', () => {
  it('says of a path outside the reach which key of which file the operator can change', () => {
    expect(failureOf(new BoundaryError('read', '/x'))).toMatchObject({
      error:
        "PATH_NOT_REACHABLE: read not permitted for /x. Use a path inside the folders that this agent was given; the operator can add others to fs_reach in the personality's config.yaml.",
    });
  });

  it('promises nothing of a path on the deny floor, which fs_reach does not open', () => {
    expect(failureOf(new BoundaryError('write', '/x/.env', 'deny floor'))).toMatchObject({
      error:
        'PATH_NOT_REACHABLE: write not permitted for /x/.env: it is on the deny floor, which no reach opens; use another path',
    });
  });

  it.each([
    ['not declared', '. Tell the user: the tool has to declare this secret'],
    ['not in the secrets of this call', undefined],
  ])('says that a secret has to be declared only of one that is not: %s', (rule, next) => {
    const failure = failureOf(new CapabilityError('SECRET_NOT_DECLARED', 'k is out', rule));
    expect(failure).toMatchObject({
      error: expect.stringMatching(/^SECRET_NOT_DECLARED: k is out/),
    });
    const said = failure?.ok === false ? failure.error : '';
    if (next === undefined) expect(said).toBe('SECRET_NOT_DECLARED: k is out');
    else expect(said).toContain(next);
  });

  it.each<[string, unknown, object | undefined]>([
    [
      'what has an answer',
      new BoundaryError('read', '/x'),
      {
        ok: false,
        code: 'execution_failed',
        error: 'PATH_NOT_REACHABLE: read not permitted for /x. Use another path.',
      },
    ],
    [
      'an answer of another class, after one full stop',
      new EthosError('FILE_NOT_FOUND', 'there is no p.'),
      {
        ok: false,
        code: 'input_invalid',
        error: 'FILE_NOT_FOUND: there is no p. Give another path.',
      },
    ],
    [
      'a class alone',
      new EthosError('SPAWN_FAILED', 'no bash'),
      { ok: false, code: 'not_available', error: 'SPAWN_FAILED: no bash' },
    ],
    [
      'what is true of every tool',
      new EthosError('QUOTA_EXCEEDED', 'no more requests'),
      { code: 'execution_failed', error: expect.stringContaining('Do not try again') },
    ],
    ['another code', new EthosError('FILE_TOO_LARGE', 'x'), undefined],
    ['another error', new Error('PATH_NOT_REACHABLE: x'), undefined],
    ['what is no error', { code: 'PATH_NOT_REACHABLE' }, undefined],
  ])('%s', (_name, error, expected) => {
    const failure = failureOf(error, answers);
    if (expected === undefined) expect(failure).toBeUndefined();
    else expect(failure).toMatchObject(expected);
  });
});

describe('withFailures', () => {
  it('gives the result, the failure, or throws on', async () => {
    expect(await withFailures(answers, async () => ok('fine'))).toEqual(ok('fine'));
    const refused = withFailures(answers, () => Promise.reject(new BoundaryError('read', '/x')));
    expect(await refused).toMatchObject({ ok: false, code: 'execution_failed' });
    const bug = new TypeError('bug');
    await expect(withFailures(answers, () => Promise.reject(bug))).rejects.toBe(bug);
  });
});
