import type { ProcessResult, ScopedProcess } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { compileGlobs } from './file-globs.js';
import { Ripgrep } from './ripgrep.js';
import type { SearchQuery } from './ripgrep-arguments.js';

const query: SearchQuery = {
  pattern: 'a',
  fixedString: false,
  case: 'smart',
  globs: compileGlobs([]),
  hidden: false,
  includeIgnored: false,
};
const place = { cwd: '/w', target: '.', ignoreFiles: [] };

// As root, a test can't make a file unreadable, so it replays the answer of ripgrep.
function answering(answers: ProcessResult[]): { process: ScopedProcess; calls: string[][] } {
  const calls: string[][] = [];
  return {
    calls,
    process: {
      async spawn(_binary, args) {
        calls.push(args);
        return answers[calls.length - 1] ?? { exitCode: 1, stdout: '', stderr: '' };
      },
    },
  };
}

describe('Ripgrep.listFiles', () => {
  it('keeps what was found when some files can not be read', async () => {
    const { process, calls } = answering([{ exitCode: 2, stdout: './a\0', stderr: '' }]);
    expect(await new Ripgrep(process, 'rg').listFiles(query, place)).toEqual({
      ok: true,
      paths: ['./a'],
      isPartial: true,
    });
    expect(calls.length).toBe(1);
  });

  it('does not blame the pattern when no file can be read', async () => {
    const { process, calls } = answering([{ exitCode: 2, stdout: '', stderr: 'denied' }]);
    expect(await new Ripgrep(process, 'rg').listFiles(query, place)).toEqual({
      ok: true,
      paths: [],
      isPartial: true,
    });
    expect(calls.length).toBe(2);
  });

  it('says what ripgrep has against the pattern', async () => {
    const { process } = answering([
      { exitCode: 2, stdout: '', stderr: '' },
      { exitCode: 2, stdout: '', stderr: 'regex parse error\n' },
    ]);
    expect(await new Ripgrep(process, 'rg').listFiles(query, place)).toEqual({
      ok: false,
      reason: 'regex parse error',
    });
  });

  it('leaves out a path that the cap on output cut', async () => {
    const { process } = answering([
      { exitCode: 143, stdout: './a\0./b', stderr: '', truncated: true },
    ]);
    expect(await new Ripgrep(process, 'rg').listFiles(query, place)).toEqual({
      ok: true,
      paths: ['./a'],
      isPartial: true,
    });
  });
});

describe('Ripgrep.findLines', () => {
  it('keeps command lines short, and starts nothing for no file', async () => {
    const { process, calls } = answering([]);
    const ripgrep = new Ripgrep(process, 'rg');
    const paths = Array.from({ length: 1_000 }, (_, at) => `/repo/${'x'.repeat(90)}${at}`);
    const found = await ripgrep.findLines(query, paths, 5);
    expect([...found.keys()]).toEqual(paths);
    expect(calls.length).toBeGreaterThan(3);
    for (const args of calls) expect(args.join(' ').length).toBeLessThan(24_000);
    await ripgrep.findLines(query, [], 5);
    expect(calls.flatMap((args) => args.slice(args.indexOf('--') + 1))).toEqual(paths);
  });
});
