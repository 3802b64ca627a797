import { isAbsolute, normalize } from 'node:path';
import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type PathVariables, resolveReachPath } from './substitute.js';

const VARIABLES: PathVariables = {
  ETHOS_HOME: '/home/x/.ethos',
  self: '/home/x/.ethos/personalities/coder',
  CWD: '/home/x/repo',
};
const part = fc.constantFrom(
  ...[
    '/',
    '..',
    '.',
    'a',
    '${self}',
    '${CWD}',
    '${',
    '}',
    '$',
    '\\',
    '\0',
    ' ',
    '\n',
    '\ud800',
    '~',
    '${x}',
    '${__proto__}',
  ],
);
const rest = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));

describe('resolveReachPath, whatever the entry', () => {
  fuzz(
    'gives a normalised absolute path at or below the variable, or nothing',
    fc.tuple(fc.constantFrom('ETHOS_HOME' as const, 'self' as const, 'CWD' as const), rest),
    ([name, rest]) => {
      const result = resolveReachPath(`\${${name}}${rest}`, VARIABLES);
      if (!result.ok) return;
      expect(isAbsolute(result.path)).toBe(true);
      expect(normalize(result.path)).toBe(result.path);
      expect(`${result.path}/`.startsWith(`${VARIABLES[name]}/`)).toBe(true);
      expect(result.path.isWellFormed() && !result.path.includes('\0')).toBe(true);
    },
    { promised: 'reach', runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'means what it says where it has no variable, and nothing relative',
    rest,
    (entry) => {
      const result = resolveReachPath(entry, VARIABLES);
      if (entry.startsWith('${')) return;
      const isPlain =
        entry.startsWith('/') &&
        entry.isWellFormed() &&
        !entry.includes('\0') &&
        !entry.includes('${') &&
        !entry.split(/[\\/]/).includes('..');
      const kept = entry.split('/').filter((one) => one !== '' && one !== '.');
      expect(result.ok ? result.path : undefined).toBe(isPlain ? `/${kept.join('/')}` : undefined);
    },
    { promised: 'reach', runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'uses no variable that stands for no folder, nor one twice',
    fc.tuple(
      fc.constantFrom(undefined, '', 'relative', '/a/../b', '/\0', '${self}', '/v/${self}'),
      rest,
    ),
    ([value, rest]) => {
      const result = resolveReachPath(`\${CWD}${rest}`, { ...VARIABLES, CWD: value });
      if (result.ok) expect(`${result.path}/`.startsWith('/v/${self}/')).toBe(true);
    },
    { promised: 'reach' },
  );

  for (const atom of ['${', '}', '/..', '/', '${CWD}', ' ', '\ud800']) {
    growsLinearly(
      `takes linear time for ${JSON.stringify(atom)}, again and again`,
      (size) => atom.repeat(size / atom.length),
      (entry) => [
        resolveReachPath(entry, VARIABLES),
        resolveReachPath(`\${CWD}${entry}`, VARIABLES),
      ],
    );
  }
});
