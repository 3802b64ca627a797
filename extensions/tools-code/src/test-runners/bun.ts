import { isPlace, ownCommand } from '../project/own-command.js';
import { byProgram, type ProjectMarkers } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import { runPlainCommand } from '../project/script-run.js';
import type { TestCase, TestReport } from '../report.js';
import { literally } from './jest-report.js';
import { junitTests, unloadedFile } from './junit-report.js';
import { fileParser, intoFile } from './report-file.js';

const isPath = isPlace(
  new Set(['-t', '--test-name-pattern', '--preload', '-r', '--timeout', '--reporter', '--bail']),
);

const signs: ProjectMarkers = {
  files: ['bunfig.toml'],
  script: {
    names: ['test', 'test:unit'],
    find: (words) => {
      const at = byProgram('bun')(words);
      return at !== undefined && words[at + 1]?.text === 'test' ? at : undefined;
    },
  },
  fallback: ['bun.lock', 'bun.lockb'],
};

const HEADER = /^(\S+\.[cm]?[jt]sx?):$/;
const UNHANDLED = /^# Unhandled error between tests$/;

/** Runs Bun's test runner, and reads its JUnit report. */
export const bun: Runner<TestReport> = {
  name: 'bun',
  title: 'bun test',
  language: 'javascript',
  signs,
  async commands({ root, target, filter, mark }, files) {
    const last = [
      ...(filter === undefined ? [] : [`--test-name-pattern=${literally(filter)}`]),
      ...(target === undefined ? [] : [target]),
    ];
    const around = intoFile('--reporter=junit --reporter-outfile="$f"', mark);
    const drop = (word: string, before: string) =>
      target !== undefined && word !== 'test' && isPath(word, before);
    const own = await ownCommand(files, root, { signs, additions: { last, around, drop } });
    if (own !== undefined) return [own];
    return [await runPlainCommand(files, { root, command: 'bun test' }, { last, around })];
  },
  parser: ({ mark }) => {
    let file = '';
    const unloaded: TestCase[] = [];
    return fileParser(
      mark,
      (text) => {
        const tests = junitTests(text, {
          nameOf: ({ name, classname }) =>
            [...classname.split(' > '), name].filter(Boolean).join(' > '),
        });
        return tests && { tests: [...tests, ...unloaded], problems: [] };
      },
      // A file that does not load is only in the printed output, not in the report.
      (line) => {
        file = HEADER.exec(line)?.[1] ?? file;
        if (UNHANDLED.test(line)) unloaded.push(unloadedFile(file));
      },
    );
  },
};
