import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { markedLines } from '../output/marked-lines.js';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import { isPlace, ownCommand } from '../project/own-command.js';
import { type ProjectMarkers, scriptOf } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import { findProgram } from '../project/script-command.js';
import type { TestCase, TestReport } from '../report.js';
import { failureOf, literally } from './jest-report.js';

// The reporters that Node has are for people, or leave out the file. This one writes each result
// as a line of JSON; as a URL it needs no file that the project could see. What a test prints may
// come out among its lines, so they have a mark, and the last one says how many they are.
const reporter = (mark: string) => `
const start = ${JSON.stringify(`\n\u0001${mark} `)};
process.execArgv = process.execArgv.filter((arg) => !arg.includes('${mark}'));
let told = 0;
const text = (error) => {
  const cause = error?.cause ?? error;
  return String((cause && (cause.stack || cause.message)) || cause);
};
export default async function* (source) {
  const groups = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') groups[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, nesting, file, line, skip, todo, details } = data;
    const names = [...groups.slice(0, nesting), name];
    const { duration_ms: ms, type: kind, error } = details ?? {};
    const failed = type === 'test:fail';
    const result = { names, file, line, kind, failed, ms, cause: error?.failureType,
      skip: skip !== undefined && skip !== false, todo: todo !== undefined && todo !== false,
      failure: failed ? text(error) : undefined };
    told += 1;
    yield start + JSON.stringify(result) + '\\n';
  }
  yield start + JSON.stringify({ told }) + '\\n';
}
`;

const result = z.object({
  names: z.array(z.string()),
  file: z.string().optional(),
  line: z.int().optional(),
  kind: z.string().optional(),
  cause: z.string().optional(),
  failed: z.boolean(),
  skip: z.boolean(),
  todo: z.boolean(),
  ms: z.number().optional(),
  failure: z.string().optional(),
});

const end = z.object({ told: z.int() });

const MAX_TESTS = 100_000;

const signs: ProjectMarkers = {
  script: {
    names: ['test', 'test:unit'],
    find: (words) => {
      const at = findProgram(['node', 'tsx'], words);
      if (at === undefined) return undefined;
      return words.slice(at + 1).some(({ text }) => text === '--test') ? at : undefined;
    },
  },
};

/** Runs the test runner of Node with our own reporter, and reads its lines. */
export const nodeTest: Runner<TestReport> = {
  name: 'node',
  title: 'node:test',
  language: 'javascript',
  signs,
  async commands({ root, target, isTargetFile, filter, mark }, files) {
    const manifest = await files.json(join(root, 'package.json'));
    const first = [
      `--test-reporter=data:text/javascript,${encodeURIComponent(reporter(mark))}`,
      '--test-reporter-destination=stdout',
      ...(filter === undefined ? [] : [`--test-name-pattern=${literally(filter)}`]),
    ];
    const found = scriptOf(manifest, signs);
    // As a script, they may name anything.
    for (const { text } of found?.words.slice(found.program + 1) ?? []) {
      const place = text.startsWith('-') ? placeIn(text) : (placeIn(text) ?? text);
      if (place !== undefined && place !== '') await files.assertInReach(resolve(root, place));
    }
    if (found !== undefined && (target === undefined || isTargetFile)) {
      const last = target === undefined ? [] : [target];
      const drop = (word: string, before: string) =>
        /^--test-reporter/.test(word) || (target !== undefined && isFile(word, before));
      const own = await ownCommand(files, root, { signs, additions: { first, last, drop } });
      if (own !== undefined) return [own];
    }
    const options = scriptOptions(found?.text ?? '');
    // With a folder as an argument, versions of Node differ. Without one, all search the working directory.
    const cwd = target === undefined || isTargetFile ? root : target;
    const places = isTargetFile && target !== undefined ? [target] : [];
    return [{ binary: 'node', args: [...options, '--test', ...first, ...places], cwd }];
  },
  parser: ({ mark }) => nodeTestParser(mark),
};

function nodeTestParser(mark: string): OutputParser<TestReport> {
  const tests: TestCase[] = [];
  let told = 0;
  let ended: z.output<typeof end> | undefined;
  const lines = markedLines(mark, (json) => {
    ended ??= parseJson(end, json);
    const found = parseJson(result, json);
    if (found !== undefined) told += 1;
    const test = found && testOf(found);
    if (test !== undefined && tests.length < MAX_TESTS) tests.push(test);
  });
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end() {
      lines.end();
      return ended?.told === told ? { tests, problems: [] } : undefined;
    },
  };
}

/** Converts a reported test; `undefined` for a group, whose tests are reported one by one. */
function testOf(found: z.output<typeof result>): TestCase | undefined {
  const { names, file, line, kind, cause, failed, skip, todo, ms, failure = '' } = found;
  const isOfTests = kind === 'suite' || cause === 'subtestsFailed';
  if (isOfTests && (!failed || cause === 'subtestsFailed')) return undefined;
  const isFile = names.length === 1 && file?.endsWith(names[0] ?? '') === true;
  if (isFile && !failed) return undefined;
  const status = todo ? 'todo' : skip ? 'skipped' : failed ? 'failed' : 'passed';
  return {
    name: isFile ? '(file)' : names.join(' > '),
    ...(file !== undefined && { file }),
    ...(line !== undefined && !isFile && { line }),
    status,
    ...(ms !== undefined && { durationMs: Math.round(ms) }),
    ...(status === 'failed' && { failure: failureOf(failure) }),
  };
}

const SHELL_SYNTAX = /[*?[\]{}$`|&;<>()'"\\\n]/;
const WITH_VALUE = new Set([
  '--import',
  '--require',
  '-r',
  '--loader',
  '--experimental-loader',
  '--conditions',
  '-C',
  '--env-file',
]);
const isFile = isPlace(WITH_VALUE);

/** Returns the path in an option or its value, if it looks like a path. */
function placeIn(option: string): string | undefined {
  const value = option.startsWith('-') ? option.slice(option.indexOf('=') + 1) : option;
  if (/^file:/i.test(value)) return URL.canParse(value) ? pathOf(value) : undefined;
  return /^\.{0,2}\//.test(value) || value === '..' ? value : undefined;
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** Returns the options that a script gives Node to load the tests, without those of `--test`. */
export function scriptOptions(script: string): string[] {
  const words = script.trim().split(/\s+/);
  // A script that needs a shell gives no options.
  if (words[0] !== 'node' || SHELL_SYNTAX.test(script)) return [];
  const options: string[] = [];
  let takesValue = false;
  for (const word of words.slice(1)) {
    if (takesValue || WITH_VALUE.has(word)) {
      options.push(word);
      takesValue = !takesValue;
    } else if (word.startsWith('-') && !/^--(test|watch)/.test(word)) options.push(word);
  }
  return options;
}
