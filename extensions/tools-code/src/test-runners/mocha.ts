import { z } from 'zod';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import { WholeText } from '../output/whole-text.js';
import { findNodeTool } from '../project/node-tool.js';
import { isPlace, ownCommand } from '../project/own-command.js';
import { byProgram, type ProjectMarkers } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { TestCase, TestReport, TestStatus } from '../report.js';
import { failureOf } from './jest-report.js';

const test = z.object({
  fullTitle: z.string(),
  file: z.string().nullish(),
  duration: z.number().nullish(),
  err: z.object({ message: z.string().optional(), stack: z.string().optional() }).optional(),
});

const report = z.object({
  stats: z.object({ passes: z.int(), pending: z.int(), failures: z.int() }),
  passes: z.array(test),
  pending: z.array(test),
  failures: z.array(test),
});

const VALUED = new Set(
  '-r --require --import -R --reporter -O --reporter-option --reporter-options -u --ui -t --timeout -s --slow -g --grep -f --fgrep --config --package --extension --file --ignore --exclude --spec -j --jobs --retries --loader -n --node-option'.split(
    ' ',
  ),
);
const isSpec = isPlace(VALUED);

const signs: ProjectMarkers = {
  files: ['.mocharc.*'],
  packageKey: 'mocha',
  dependency: 'mocha',
  script: { names: ['test', 'test:unit'], find: byProgram('mocha', '_mocha') },
};

/** Runs Mocha, and reads its JSON report. */
export const mocha: Runner<TestReport> = {
  name: 'mocha',
  title: 'Mocha',
  language: 'javascript',
  signs,
  async commands({ root, target, isTargetFile, filter }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'mocha' });
    if (tool === undefined) return [];
    const args = ['--reporter=json'];
    if (filter !== undefined) args.push(`--fgrep=${filter}`);
    if (target !== undefined) args.push(...(isTargetFile ? [] : ['--recursive']), target);
    const { version } = tool;
    const drop = (word: string, before: string) => target !== undefined && isSpec(word, before);
    const own = await ownCommand(files, root, { signs, additions: { last: args, drop } });
    const direct = { binary: 'node', args: [tool.file, ...args], cwd: root, version };
    return own === undefined ? [direct] : [{ ...own, version }, direct];
  },
  parser: mochaParser,
};

/** Reads Mocha's report. It comes after the text that tests print, and may start within a line. */
export function mochaParser(): OutputParser<TestReport> {
  const output = new WholeText();
  return {
    add: (text, stream) => {
      if (stream === 'stdout') output.add(text);
    },
    end() {
      const text = output.text() ?? '';
      const start = text.lastIndexOf('{\n  "stats": {');
      const end = text.indexOf('\n}', start);
      const found = start === -1 ? undefined : parseJson(report, text.slice(start, end + 2));
      if (found === undefined) return undefined;
      const { stats, passes, pending, failures } = found;
      const isWhole =
        stats.passes === passes.length &&
        stats.pending === pending.length &&
        stats.failures === failures.length;
      if (!isWhole) return undefined;
      const tests = [
        ...passes.map((each) => testOf(each, 'passed')),
        ...pending.map((each) => testOf(each, 'skipped')),
        ...failures.map((each) => testOf(each, 'failed')),
      ];
      return { tests, problems: [] };
    },
  };
}

function testOf(found: z.output<typeof test>, status: TestStatus): TestCase {
  const { fullTitle, file, duration, err } = found;
  return {
    name: fullTitle,
    ...(typeof file === 'string' && { file }),
    status,
    ...(typeof duration === 'number' && { durationMs: Math.round(duration) }),
    ...(status === 'failed' && {
      failure: failureOf(err?.stack || err?.message || 'it failed, and said nothing'),
    }),
  };
}
