import { findNodeTool } from '../project/node-tool.js';
import { isPlace, ownCommand } from '../project/own-command.js';
import { byProgram, type ProjectMarkers } from '../project/project-markers.js';
import type { Runner, RunRequest } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { literally } from './jest-report.js';
import { tapParser } from './tap-report.js';

/** A runner for Node that writes the Test Anything Protocol. */
interface TapRunner {
  name: string;
  title: string;
  packageName: string;
  signs: ProjectMarkers;
  options: (request: RunRequest) => string[];
  /** Options that take the next word as their value. */
  valued: ReadonlySet<string>;
  takesFilter?: false;
}

function tapRunner({ packageName, options, valued, ...about }: TapRunner): Runner<TestReport> {
  const isFile = isPlace(valued);
  const { signs } = about;
  return {
    ...about,
    language: 'javascript',
    async commands(request, files) {
      const { root, target } = request;
      const tool = await findNodeTool(files, root, { packageName });
      if (tool === undefined) return [];
      const args = [...options(request), ...(target === undefined ? [] : [target])];
      const { version } = tool;
      const drop = (word: string, before: string) => target !== undefined && isFile(word, before);
      const own = await ownCommand(files, root, { signs, additions: { last: args, drop } });
      const direct = { binary: 'node', args: [tool.file, ...args], cwd: root, version };
      return own === undefined ? [direct] : [{ ...own, version }, direct];
    },
    parser: tapParser,
  };
}

const NAMES = ['test', 'test:unit'];

/** Runs AVA, and reads its TAP report. */
export const ava: Runner<TestReport> = tapRunner({
  name: 'ava',
  title: 'AVA',
  packageName: 'ava',
  signs: {
    files: ['ava.config.*'],
    packageKey: 'ava',
    dependency: 'ava',
    script: { names: NAMES, find: byProgram('ava') },
  },
  options: ({ filter }) => ['--tap', ...(filter === undefined ? [] : [`--match=*${filter}*`])],
  valued: new Set('-m --match -c --concurrency -T --timeout --config --node-arguments'.split(' ')),
});

/** Runs node-tap, and reads its TAP report. */
export const tap: Runner<TestReport> = tapRunner({
  name: 'tap',
  title: 'tap',
  packageName: 'tap',
  signs: {
    files: ['.taprc'],
    packageKey: 'tap',
    dependency: 'tap',
    script: { names: NAMES, find: byProgram('tap') },
  },
  options: ({ filter }) => [
    '--reporter=tap',
    ...(filter === undefined ? [] : [`--grep=/${literally(filter)}/`]),
  ],
  valued: new Set('-R --reporter -j --jobs -t --timeout -g --grep --coverage-report'.split(' ')),
});

/** Runs tape, and reads the TAP that it always writes. */
export const tape: Runner<TestReport> = tapRunner({
  name: 'tape',
  title: 'tape',
  packageName: 'tape',
  // tape needs the files as arguments, and only the script names them.
  signs: { script: { names: NAMES, find: byProgram('tape') } },
  options: () => [],
  takesFilter: false,
  valued: new Set(['-r', '--require', '-i', '--ignore']),
});
