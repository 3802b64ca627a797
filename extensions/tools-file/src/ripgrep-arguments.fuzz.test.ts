import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { compileGlobs, globBelow } from './file-globs.js';
import { filterArguments, globArguments, patternArguments } from './ripgrep-arguments.js';

const OPTION =
  /^--(smart-case|case-sensitive|ignore-case|fixed-strings|no-follow|no-require-git|no-ignore-global|no-ignore-parent|no-ignore-exclude|no-ignore|hidden|(regexp|type|ignore-file)=[\s\S]*|type-add=wanted:[\s\S]*|glob=!?(\*\*)?\/[\s\S]*|glob=!\.git)$/;

const text = fc.oneof(
  fc.string(),
  fc.string({
    unit: fc.constantFrom('-', '!', '/', '.', '*', '=', ':', '@', '\n', '\\', ' ', '[', '{', 'a'),
  }),
  fc.constantFrom(
    '--pre=sh',
    '-z',
    '--',
    '!--pre=sh',
    '@',
    'all:include:x',
    '../**',
    '!/',
    '!!',
    './',
  ),
);

describe('arguments for ripgrep', () => {
  fuzz(
    'are options of a closed list, whatever the model asks for',
    fc.record({
      pattern: fc.option(text, { nil: undefined }),
      globs: fc.array(text.filter((glob) => glob !== '')),
      fileType: fc.option(text, { nil: undefined }),
      fixedString: fc.boolean(),
      hidden: fc.boolean(),
      includeIgnored: fc.boolean(),
      target: fc.constantFrom('.', 'a', '-a', 'a/[b]', '!x'),
      how: fc.constantFrom('smart' as const, 'sensitive' as const, 'insensitive' as const),
    }),
    ({ globs, target, how, ...rest }) => {
      const query = { ...rest, globs: compileGlobs(globs), case: how };
      const place = { target, ignoreFiles: ['.gitignore', '-x'] };
      const args = [
        ...patternArguments(query),
        ...globArguments(query, place),
        ...filterArguments(query, place),
      ];
      for (const argument of args) expect(argument).toMatch(OPTION);
    },
    { promised: 'processes', runs: { check: 100, long: 50_000 } },
  );

  const HOSTILE: Record<string, (size: number) => string> = {
    slashes: (size) => '/'.repeat(size),
    'dots and slashes': (size) => './'.repeat(size / 2),
    'slashes and a letter': (size) => `!a${'/'.repeat(size)}b`,
    spaces: (size) => `a${' '.repeat(size)}b`,
    brackets: (size) => '[{'.repeat(size / 2),
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`compileGlobs takes linear time for ${what}`, inputOf, (glob) => {
      const { included, excluded } = compileGlobs([glob, `!${glob}`]);
      return [...included, ...excluded].map((one) => globBelow('a', one));
    });
  }
});
