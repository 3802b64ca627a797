import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlobs } from './file-globs.js';
import { filterArguments, globArguments, patternArguments } from './ripgrep-arguments.js';

const OPTION =
  /^--(smart-case|case-sensitive|ignore-case|fixed-strings|no-follow|no-require-git|no-ignore-global|no-ignore-parent|no-ignore-exclude|no-ignore|hidden|(regexp|type|ignore-file)=[\s\S]*|type-add=wanted:[\s\S]*|glob=!?(\*\*)?\/[\s\S]*|glob=!\.git)$/;

describe('arguments for ripgrep', () => {
  it('are options of a closed list, whatever the model asks for', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('--pre=sh', '-z', '--', '!--pre=sh', '@', 'all:include:x', '../**'),
    );
    fc.assert(
      fc.property(text, fc.array(text), fc.boolean(), (pattern, globs, flag) => {
        const query = {
          pattern,
          fixedString: flag,
          case: 'smart' as const,
          globs: compileGlobs(globs.filter((glob) => glob !== '')),
          hidden: flag,
          includeIgnored: !flag,
        };
        const place = { target: 'a', ignoreFiles: ['.gitignore'] };
        const args = [
          ...patternArguments(query),
          ...globArguments(query, place),
          ...filterArguments(query, place),
        ];
        for (const argument of args) expect(argument).toMatch(OPTION);
      }),
    );
  });
});
