import { join } from 'node:path';
import type { Runner } from '../project/runner.js';
import { runPlainCommand } from '../project/script-run.js';
import type { TestReport } from '../report.js';
import { literally } from './jest-report.js';
import { junitTests } from './junit-report.js';
import { fileParser, intoFile } from './report-file.js';

/** Runs PHPUnit, and reads its JUnit report. */
export const phpunit: Runner<TestReport> = {
  name: 'phpunit',
  title: 'PHPUnit',
  language: 'php',
  signs: {
    files: ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'],
    mentioned: { file: 'composer.json', word: /"phpunit\/phpunit"/ },
  },
  async commands({ root, target, filter, mark }, files) {
    const isOwn = await files.exists(join(root, 'vendor/bin/phpunit'));
    const command = isOwn ? 'php vendor/bin/phpunit' : 'phpunit';
    const last = [
      ...(filter === undefined ? [] : [`--filter=${literally(filter)}`]),
      ...(target === undefined ? [] : [target]),
    ];
    const around = intoFile('--log-junit "$f"', mark);
    return [await runPlainCommand(files, { root, command }, { last, around })];
  },
  parser: ({ mark }) =>
    fileParser(mark, (text) => {
      const tests = junitTests(text, {
        nameOf: ({ name, classname }) =>
          [classname.replaceAll('.', '\\'), name].filter(Boolean).join('::'),
      });
      return tests && { tests, problems: [] };
    }),
};
