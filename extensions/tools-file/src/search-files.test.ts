import { linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { FsStorage } from '@ethosagent/storage-fs';
import { inCheck } from '@ethosagent/test-support';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { createFileWorld, type FileWorld } from './fixtures/file-world.js';

function createTree(options: Parameters<typeof createFileWorld>[0] = {}): FileWorld {
  const world = createFileWorld(options);
  world.put('.gitignore', '*.log\n/dist/\n');
  world.put('src/a.ts', 'first\nneedle one\nthird\nfourth\nfifth\nNEEDLE two\n');
  world.put('src/deep/b.tsx', 'a needle\r\n');
  world.put('src/c.js', 'needle.js\n');
  world.put('docs/readme.md', 'no match here\n');
  world.put('noise.log', 'needle\n');
  world.put('dist/out.ts', 'needle\n');
  world.put('.hidden/x.ts', 'needle\n');
  world.put('.git/config', 'needle\n');
  return world;
}

describe('search_files by content', () => {
  it('groups matching lines by file, in order', async () => {
    const world = createTree();
    const result = await world.run('search_files', { pattern: 'needle' });
    expect(textOf(result)).toBe(
      [
        'src/a.ts',
        '2: needle one',
        '6: NEEDLE two',
        '',
        'src/c.js',
        '1: needle.js',
        '',
        'src/deep/b.tsx',
        '1: a needle',
      ].join('\n'),
    );
    expect(result).toMatchObject({
      structured: {
        mode: 'content',
        root: world.dir,
        matches: 4,
        truncated: false,
        partial: false,
        files: [
          { path: join(world.dir, 'src/a.ts'), lines: [2, 6] },
          { path: join(world.dir, 'src/c.js'), lines: [1] },
          { path: join(world.dir, 'src/deep/b.tsx'), lines: [1] },
        ],
      },
    });
  });

  const choices: [what: string, args: object, files: string[]][] = [
    ['a name glob', { pattern: 'needle', glob: '*.ts' }, ['src/a.ts']],
    [
      'several globs',
      { pattern: 'needle', glob: ['*.js', '*.tsx'] },
      ['src/c.js', 'src/deep/b.tsx'],
    ],
    ['braces', { pattern: 'needle', glob: '*.{ts,js}' }, ['src/a.ts', 'src/c.js']],
    ['a path glob', { pattern: 'needle', glob: 'src/*' }, ['src/a.ts', 'src/c.js']],
    ['a deep path glob', { pattern: 'needle', glob: '**/deep/**' }, ['src/deep/b.tsx']],
    ['a glob for a folder', { pattern: 'needle', glob: 'src/deep/' }, ['src/deep/b.tsx']],
    ['an excluded name', { pattern: 'needle', glob: '!*.ts' }, ['src/c.js', 'src/deep/b.tsx']],
    ['an excluded folder', { pattern: 'needle', glob: ['*.ts*', '!deep'] }, ['src/a.ts']],
    [
      'an excluded folder with a slash',
      { pattern: 'needle', glob: ['*.ts*', '!deep/'] },
      ['src/a.ts'],
    ],
    [
      'the root and an empty exclusion',
      { pattern: 'needle', glob: ['./', '!'], path: 'src/deep' },
      ['src/deep/b.tsx'],
    ],
    ['an excluded path', { pattern: 'needle', glob: '!src/deep' }, ['src/a.ts', 'src/c.js']],
    ['a glob that .gitignore names', { pattern: 'needle', glob: '*.log' }, []],
    ['a file type', { pattern: 'needle', file_type: 'js' }, ['src/c.js']],
    [
      'a file type and a path glob',
      { pattern: 'needle', file_type: 'ts', glob: 'src/**/b*' },
      ['src/deep/b.tsx'],
    ],
    ['a path glob that .gitignore names', { pattern: 'needle', glob: 'dist/*' }, []],
    ['a path glob that is all', { pattern: 'needle', glob: '**/*.ts' }, ['src/a.ts']],
    ['braces around a slash', { pattern: 'needle', glob: '{src/c.*,docs/*}' }, ['src/c.js']],
    [
      'an excluded path below a subfolder',
      { pattern: 'needle', path: 'src', glob: ['*/*', '*', '!deep/*'] },
      ['src/a.ts', 'src/c.js'],
    ],
    ['a file type and a glob', { pattern: 'needle', file_type: 'ts', glob: 'a*' }, ['src/a.ts']],
    ['a subfolder', { pattern: 'needle', path: 'src/deep' }, ['src/deep/b.tsx']],
    ['one file', { pattern: 'needle', path: 'src/c.js' }, ['src/c.js']],
    ['a case', { pattern: 'NEEDLE' }, ['src/a.ts']],
    ['either case', { pattern: 'NEEDLE.JS', case: 'insensitive' }, ['src/c.js']],
    ['plain text', { pattern: 'e.j', fixed_string: true }, ['src/c.js']],
    ['a pattern like an option', { pattern: '--pre=touch x' }, []],
    ['hidden files', { pattern: 'needle', hidden: true, glob: 'x*' }, ['.hidden/x.ts']],
    [
      'ignored files',
      { pattern: 'needle', include_ignored: true, glob: ['*.log', 'dist/**'] },
      ['dist/out.ts', 'noise.log'],
    ],
  ];
  // Each starts ripgrep. These stand for the kinds of choices.
  const chosen = [
    'a path glob',
    'an excluded folder',
    'a file type and a path glob',
    'a path glob that .gitignore names',
    'an excluded path below a subfolder',
    'one file',
    'either case',
    'plain text',
    'a pattern like an option',
    'hidden files',
    'ignored files',
  ];
  it.each(inCheck(choices, ([what]) => chosen.includes(what)))(
    'chooses by %s: %j',
    async (_what, args, files) => {
      const world = createTree();
      const result = await world.run('search_files', args);
      textOf(result);
      expect(result).toMatchObject({
        structured: { files: files.map((path) => ({ path: join(world.dir, path) })) },
      });
    },
  );

  it('counts .gitignore without a repository', async () => {
    const world = createFileWorld();
    world.put('.gitignore', '*.log\n');
    world.put('a.log', 'needle\n');
    world.put('a.txt', 'needle\n');
    expect(textOf(await world.run('search_files', { pattern: 'needle' }))).toBe('a.txt\n1: needle');
  });

  it('counts .gitignore of folders above, up to the working directory', async () => {
    const world = createTree();
    world.put('src/skip.log', 'needle\n');
    world.put('src/deep/skip.log', 'needle\n');
    const result = await world.run('search_files', { pattern: 'needle', path: 'src/deep' });
    expect(textOf(result)).toBe('src/deep/b.tsx\n1: a needle');
  });

  it('takes no ignore file from outside the reach', async () => {
    const world = createTree();
    writeFileSync(join(world.dir, '../.gitignore'), '*\n');
    const result = await world.run('search_files', { pattern: 'needle', glob: '*.js' });
    expect(textOf(result)).toBe('src/c.js\n1: needle.js');
  });

  it('takes none from where it may not read, though that is in the working directory', async () => {
    const world = createFileWorld({ read: ['src'] });
    world.put('.gitignore', '*\n');
    world.put('src/deep/a.txt', 'needle\n');
    const result = await world.run('search_files', { pattern: 'needle', path: 'src/deep' });
    expect(textOf(result)).toBe('src/deep/a.txt\n1: needle');
  });

  it('tells the lines of a file that is too large to read, without their text', async () => {
    const world = createFileWorld({ storage: new FsStorage({ maxReadBytes: 100 }) });
    world.put('large.txt', `needle\n${'x'.repeat(100)}\n`);
    world.put('small.txt', 'needle\n');
    for (const path of ['.', 'large.txt']) {
      const result = await world.run('search_files', { pattern: 'needle', path });
      expect(textOf(result)).toMatch(/^large\.txt\n\[too large to show; it matches in line 1\]$/m);
    }
  });

  it('shows lines around, and where they are apart', async () => {
    const world = createTree();
    const result = await world.run('search_files', {
      pattern: 'needle',
      path: 'src/a.ts',
      context: 1,
    });
    expect(textOf(result)).toBe(
      'src/a.ts\n1- first\n2: needle one\n3- third\n--\n5- fifth\n6: NEEDLE two',
    );
  });

  it('shows the part of a long line around the match', async () => {
    const world = createFileWorld();
    world.put('a.min.js', `${'é'.repeat(10_000)}needle${'😀'.repeat(10_000)}\n`);
    const text = textOf(await world.run('search_files', { pattern: 'needle' }));
    expect(text.length).toBeLessThan(400);
    expect(text).toMatch(/^a\.min\.js\n1: …é+needle😀+…$/u);
  });

  it('caps the results, and says so', async () => {
    const world = createFileWorld();
    for (const name of ['a', 'b', 'c']) world.put(name, 'x\n'.repeat(5));
    const result = await world.run('search_files', { pattern: 'x', max_results: 7 });
    expect(textOf(result)).toBe(
      'a\n1: x\n2: x\n3: x\n4: x\n5: x\n\nb\n1: x\n2: x\n\n[the first 7 matching lines, in 2 files, are shown; there are more: narrow the search, or raise max_results]',
    );
    expect(result).toMatchObject({ structured: { matches: 7, truncated: true } });
    const all = await world.run('search_files', { pattern: 'x', max_results: 15 });
    expect(all).toMatchObject({ structured: { matches: 15, truncated: false } });
    const exact = await world.run('search_files', { pattern: 'x', max_results: 10 });
    expect(exact).toMatchObject({ structured: { matches: 10, truncated: true } });
  });

  it('keeps to the budget of the call', async () => {
    const world = createFileWorld();
    for (let at = 100; at < 200; at += 1) world.put(`file-${at}`, 'needle\n');
    const result = await world.run(
      'search_files',
      { pattern: 'needle' },
      { resultBudgetChars: 1_000 },
    );
    expect(textOf(result).length).toBeLessThanOrEqual(1_000);
    expect(textOf(result)).toContain('there are more');
    expect(result).toMatchObject({ structured: { truncated: true } });
  });

  it('keeps to the budget when one file is more than that', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'needle in a longer line\n'.repeat(90));
    const result = await world.run(
      'search_files',
      { pattern: 'needle' },
      { resultBudgetChars: 1_000 },
    );
    expect(textOf(result).length).toBeLessThanOrEqual(1_000);
    expect(textOf(result)).not.toContain('[truncated');
    expect(result).toMatchObject({ structured: { truncated: true } });
  });

  it.each<[what: string, args: object, hint: string | undefined]>([
    ['other case', { pattern: 'NearBy' }, '[in other case, it matches in near.txt]'],
    ['other blanks', { pattern: 'two   words' }, '[with other blanks, it matches in near.txt]'],
    [
      'other blanks of plain text',
      { pattern: 'call(a,  b)', fixed_string: true },
      '[with other blanks, it matches in near.txt]',
    ],
    ['a name like it', { glob: 'naer.txt' }, '[the nearest names are near.txt]'],
    ['nothing like it', { pattern: 'zzz zzz' }, undefined],
    ['a name like none', { glob: 'qqqqqq' }, undefined],
  ])('says of nothing what is near: %s', async (_, args, hint) => {
    const world = createFileWorld({ deny: ['secret'] });
    for (const path of ['near.txt', 'secret/near.txt']) {
      world.put(path, 'nearby\ntwo words\ncall(a, b)\n');
    }
    const text = textOf(await world.run('search_files', args));
    expect(text.split('\n').slice(1)).toEqual(hint === undefined ? [] : [hint]);
    expect(text).toMatch(/^\[nothing matches/);
  });

  const plain = ['two words', 'TWO words', 'a  b', ' b', 'call(x, y)', 'x.y z'];
  it.each(inCheck(plain, (pattern) => pattern === 'a  b'))(
    'finds the lines with %j as plain text, and no others, whatever is near in a file',
    async (pattern) => {
      const lines = [
        'two words',
        'two   words',
        'two\twords two words',
        'Two Words',
        'a b',
        'a  b',
        `é${'x'.repeat(400)} a b a  b`,
        'call(x, y)',
        'call(x,  y)',
        'x.y z',
        'xay z',
      ];
      const search = async (texts: readonly string[], args: object) => {
        const world = createFileWorld();
        for (const [at, text] of texts.entries()) world.put(`${at}.txt`, text);
        const result = await world.run('search_files', { pattern, fixed_string: true, ...args });
        return { result, text: textOf(result) };
      };
      for (const kind of ['smart', 'sensitive', 'insensitive']) {
        const folds = kind === 'insensitive' || (kind === 'smart' && !/[A-Z]/.test(pattern));
        const fold = (text: string) => (folds ? text.toLowerCase() : text);
        const numbers = lines.flatMap((line, at) =>
          fold(line).includes(fold(pattern)) ? [at + 1] : [],
        );
        // All in one file, and each in one of its own.
        const { result, text } = await search([lines.join('\r\n')], { case: kind });
        const found = result?.ok ? Object(result.structured).files : [];
        expect(found.flatMap((file: { lines: number[] }) => file.lines)).toEqual(numbers);
        expect(text.includes('with other blanks')).toBe(false);
        const apart = await search(lines, { case: kind, max_results: 20 });
        expect(apart.result).toMatchObject({ structured: { matches: numbers.length } });
      }
    },
  );

  it.each([
    ['nothing is near', 'zebra crossing', 1],
    ['all that is near is what was meant', 'two words', 1],
    ['something else is near', 'two  words', 2],
    ['it is no plain text', 'two +words', 1],
  ])('starts ripgrep once, and twice at most, where %s', async (_, pattern, runs) => {
    const world = createFileWorld();
    world.put('a.txt', 'two words\n');
    await world.run('search_files', { pattern });
    expect(world.audit.events.filter(({ capability }) => capability === 'process')).toHaveLength(
      runs,
    );
  });

  it('says that nothing matches, and what was left out', async () => {
    const world = createTree();
    expect(textOf(await world.run('search_files', { pattern: 'not there' }))).toBe(
      '[nothing matches; hidden files and ignored files were left out]',
    );
  });

  it('finds text in UTF-16, and leaves out binary files', async () => {
    const world = createFileWorld();
    world.put('utf16.txt', iconv.encode('über\nneedle\n', 'utf-16le', { addBOM: true }));
    world.put('data.bin', Buffer.from('needle\0\x01\x02needle\n'));
    expect(textOf(await world.run('search_files', { pattern: 'needle' }))).toBe(
      'utf16.txt\n2: needle',
    );
  });

  it('takes names with line breaks, dashes and quotes as they are', async () => {
    const world = createFileWorld();
    for (const name of ['-rf', '--pre=x', 'a\nb.ts', 'q\'uo"te']) world.put(name, 'needle\n');
    const result = await world.run('search_files', { pattern: 'needle' });
    expect(textOf(result).split('\n\n')).toEqual([
      '--pre=x\n1: needle',
      '-rf\n1: needle',
      '"a\\nb.ts"\n1: needle',
      'q\'uo"te\n1: needle',
    ]);
  });

  const invalid: [what: string, args: object, error: RegExp][] = [
    ['a bad regular expression', { pattern: '(' }, /regex parse error[\s\S]*unclosed group/],
    ['a glob for one file', { pattern: 'a', path: 'src/c.js', glob: '*.js' }, /leave out glob/],
    ['a bad path glob', { pattern: 'a', glob: 'src/[/a' }, /unclosed character class/],
    ['a regex that grows', { pattern: '(a{1000}){1000}{1000}' }, /size limit/],
    ['a bad glob', { pattern: 'a', glob: '[' }, /unclosed character class/],
    ['an unknown file type', { pattern: 'a', file_type: 'nope' }, /nope/],
    ['a file type that is an option', { pattern: 'a', file_type: '--pre=x' }, /file_type/],
    ['neither pattern nor glob', { path: '.' }, /give a pattern/],
    ['a line break in the pattern', { pattern: 'a\nb' }, /\\n/],
    ['a NUL in the pattern', { pattern: 'a\0b' }, /NUL/],
  ];
  // The growing patterns take ripgrep seconds, up to its limit.
  const left = ['a regex that grows', 'a bad path glob', 'an unknown file type'];
  const refused = inCheck(invalid, ([what]) => !left.includes(what));
  it.each(refused)('refuses %s: %j', async (_what, args, error) => {
    const world = createTree();
    const result = await world.run('search_files', args);
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
    expect(errorOf(result)).toMatch(error);
  });
});

describe('search_files by name', () => {
  const cases: [what: string, args: object, files: string[]][] = [
    ['a name', { glob: '*.ts*' }, ['src/a.ts', 'src/deep/b.tsx']],
    ['a path', { glob: 'src/**/*.tsx' }, ['src/deep/b.tsx']],
    ['a path below a subfolder', { glob: 'deep/*', path: 'src' }, ['src/deep/b.tsx']],
    ['a type', { file_type: 'md' }, ['docs/readme.md']],
    ['nothing ignored', { glob: '*.log' }, []],
    ['all but some', { glob: ['!src/**', '!*.log'] }, ['docs/readme.md']],
  ];
  const standing = ['a path below a subfolder', 'a type', 'nothing ignored'];
  it.each(inCheck(cases, ([what]) => standing.includes(what)))(
    'finds %s: %j',
    async (_what, args, files) => {
      const world = createTree();
      const result = await world.run('search_files', args);
      expect(result).toMatchObject({
        structured: { mode: 'names', files: files.map((path) => join(world.dir, path)) },
      });
      if (files.length > 0) expect(textOf(result)).toBe(files.join('\n'));
    },
  );

  it('caps the names, and says so', async () => {
    const world = createFileWorld();
    for (const name of ['a', 'b', 'c']) world.put(name, '');
    const result = await world.run('search_files', { glob: '*', max_results: 2 });
    expect(textOf(result)).toMatch(/^a\nb\n\n\[the first 2 files are shown; there are more/);
  });
});

describe('search_files matches globs out of the process', () => {
  const long = 'a'.repeat(100);
  const stars = '*a'.repeat(12);
  // The result alone is asserted: a matcher that backtracks would not come to one.
  const hostile: [what: string, args: object, files: string[]][] = [
    ['stars, with a file type', { file_type: 'txt', glob: `${stars}b` }, []],
    ['stars that match', { file_type: 'txt', glob: `${stars}*.txt` }, [`${long}.txt`]],
    ['stars in a path', { glob: `**/${stars}b` }, []],
    ['stars before a slash', { glob: `${stars}b/*` }, []],
    ['folders again and again', { glob: `${'**/a/'.repeat(100)}b` }, []],
    ['folders that match', { glob: `${'**/a/'.repeat(12)}*` }, [`${'a/'.repeat(30)}x.txt`]],
    ['braces', { glob: `x/${'{a,aa}'.repeat(100)}b` }, []],
    ['an exclusion', { glob: ['*.txt', `!**/${stars}b`, '!a'] }, [`${long}.txt`]],
  ];
  const standing = ['stars in a path', 'folders again and again', 'an exclusion'];
  it.each(inCheck(hostile, ([what]) => standing.includes(what)))(
    'and copes with %s: %j',
    async (_what, args, files) => {
      const world = createFileWorld();
      world.put(`${long}.txt`, 'x');
      world.put(`${'a/'.repeat(30)}x.txt`, 'x');
      expect(await world.run('search_files', args)).toMatchObject({
        ok: true,
        structured: { files: files.map((path) => join(world.dir, path)) },
      });
    },
  );

  it('and copes with a regex that would backtrack', async () => {
    const world = createFileWorld();
    world.put('a.txt', `${'a'.repeat(10_000)}\n`);
    const result = await world.run('search_files', { pattern: '^(a+)+(a|a)*$|(a*)*b' });
    expect(result).toMatchObject({ structured: { matches: 1 } });
  });

  it('and takes the name of the searched folder literally', async () => {
    const world = createFileWorld();
    world.put('.gitignore', '*.log\n');
    for (const folder of ['[ab]{c,d}*\\', 'ac']) world.put(`${folder}/s/x.ts`, 'x');
    const result = await world.run('search_files', { path: '[ab]{c,d}*\\', glob: 's/*' });
    expect(result).toMatchObject({
      structured: { files: [join(world.dir, '[ab]{c,d}*\\', 's/x.ts')] },
    });
  });

  const names = ['#x', 'a b ', 'a:b', '\\!x'];
  it.each(inCheck(names, (name) => name.endsWith('x')))('and takes %j as a name', async (glob) => {
    const world = createFileWorld();
    const name = glob.replace('\\', '');
    for (const file of [`s/${name}`, 's/other']) world.put(file, 'x');
    for (const asked of [glob, `s/${glob}`]) {
      const result = await world.run('search_files', { glob: asked });
      expect(result).toMatchObject({ structured: { files: [join(world.dir, 's', name)] } });
    }
  });
});

describe('search_files stays in reach', () => {
  const roots: [what: string, path: string, code: string][] = [
    ['a root outside', '../outside', 'PATH_NOT_REACHABLE'],
    ['the folder above', '..', 'PATH_NOT_REACHABLE'],
    ['the file system', '/', 'PATH_NOT_REACHABLE'],
    ['a link that leaves', 'linked', 'PATH_NOT_REACHABLE'],
    ['a file link that leaves', 'link.txt', 'PATH_NOT_REACHABLE'],
    ['a folder on the deny floor', 'denied', 'PATH_NOT_REACHABLE'],
    ['a missing folder', 'none', 'FILE_NOT_FOUND'],
  ];
  it.each(roots)('and refuses %s: %j', async (_what, path, code) => {
    const world = createHostileTree();
    for (const args of [
      { pattern: 'SECRET', path },
      { glob: '*', path },
    ]) {
      const result = await world.run('search_files', args);
      expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
      expect(errorOf(result)).toContain(code);
    }
    expect(world.audit.events.filter(({ capability }) => capability === 'process')).toEqual([]);
  });

  it('and shows no hit from behind a link, on the deny floor, or of another name of a denied file', async () => {
    const world = createHostileTree();
    const content = await world.run('search_files', {
      pattern: 'SECRET',
      hidden: true,
      include_ignored: true,
    });
    expect(textOf(content)).toBe('plain.txt\n1: no SECRET');
    expect(JSON.stringify(content)).not.toMatch(/denied|hard|link|outside/);
    const names = await world.run('search_files', {
      glob: '*',
      hidden: true,
      include_ignored: true,
    });
    expect(textOf(names)).toBe('plain.txt');
    expect(JSON.stringify(names)).not.toMatch(/denied|hard|link|outside/);
  });

  it('and does not count what is out of reach', async () => {
    const world = createHostileTree();
    const result = await world.run('search_files', { pattern: 'SECRET', max_results: 1 });
    expect(result).toMatchObject({ structured: { matches: 1, truncated: false } });
  });

  it('and finds what is in reach behind many denied files', async () => {
    const world = createFileWorld({ deny: ['a-denied'] });
    for (let at = 0; at < 300; at += 1) world.put(`a-denied/${at}.txt`, 'SECRET');
    world.put('z.txt', 'SECRET\n');
    expect(textOf(await world.run('search_files', { pattern: 'SECRET' }))).toBe('z.txt\n1: SECRET');
    expect(world.audit.events.filter(({ decision }) => decision === 'denied').length).toBeLessThan(
      5,
    );
  });

  it('and starts ripgrep alone, with the text of the model behind `=` or `--`', async () => {
    const world = createHostileTree();
    await world.run('search_files', { pattern: '--pre=evil', glob: ['--pre=evil', '!--pre=evil'] });
    const spawned = world.audit.events.filter(({ capability }) => capability === 'process');
    expect(spawned.length).toBeGreaterThan(0);
    for (const { target } of spawned) expect(target).toMatch(/\/rg$/);
  });

  function createHostileTree(): FileWorld {
    const world = createFileWorld({ deny: ['denied', '.secret'] });
    world.put('../outside/secret.txt', 'SECRET outside');
    world.put('denied/key.txt', 'SECRET denied');
    world.put('.secret', 'SECRET denied');
    world.put('plain.txt', 'no SECRET\n');
    symlinkSync('../outside/secret.txt', join(world.dir, 'link.txt'));
    symlinkSync(world.outside, join(world.dir, 'linked'));
    linkSync(join(world.dir, '.secret'), join(world.dir, 'hard.txt'));
    return world;
  }
});
