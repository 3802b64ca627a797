import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { CargoMessages, cargoCommand } from '../problems/cargo.js';
import type { Runner } from '../project/runner.js';
import type { TestCase, TestReport } from '../report.js';

const MAX_TESTS = 100_000;
const MAX_FAILURE_CHARS = 20_000;

const TEST = /^test (.+?) \.\.\. (ok|FAILED|ignored)(?:[ ,].*)?$/;
const FAILURE = /^---- (.+?) stdout ----$/;
const PANIC = /panicked at (.+?):(\d+):\d+:?$/m;

/** Runs `cargo test`, and reads the JSON messages of the build and the text of the test harness. */
export const cargoTest: Runner<TestReport> = {
  name: 'cargo-test',
  title: 'cargo test',
  language: 'rust',
  signs: { files: ['Cargo.toml'] },
  async commands(request, files) {
    const filter = request.filter === undefined ? [] : ['--', request.filter];
    const args = ['test', '--no-fail-fast', '--message-format=json', ...filter];
    return [await cargoCommand(request, files, args)];
  },
  parser: () => cargoTestParser(),
};

export function cargoTestParser(): OutputParser<TestReport> {
  const messages = new CargoMessages();
  const tests: TestCase[] = [];
  const failed = new Map<string, TestCase>();
  let told: { test: TestCase; lines: string[]; chars: number } | undefined;
  let summaries = 0;
  const tellFailure = () => {
    if (told !== undefined) told.test.failure = failureOf(told.lines.join('\n').trim());
    const [, file, line] = PANIC.exec(told?.lines.join('\n') ?? '') ?? [];
    if (told !== undefined && file !== undefined) {
      told.test.file = file;
      told.test.line = Number(line);
    }
    told = undefined;
  };
  const lines = new LineReader((line) => {
    if (messages.take(line)) return;
    const [, name, outcome] = TEST.exec(line) ?? [];
    if (told === undefined && name !== undefined) {
      const test: TestCase = {
        name: name.replaceAll('::', ' > '),
        status: outcome === 'ok' ? 'passed' : outcome === 'ignored' ? 'skipped' : 'failed',
      };
      if (tests.length < MAX_TESTS) tests.push(test);
      if (test.status === 'failed') failed.set(name, test);
      return;
    }
    const failing = failed.get(FAILURE.exec(line)?.[1] ?? '');
    if (failing !== undefined || line === 'failures:' || line.startsWith('test result: ')) {
      tellFailure();
    }
    if (line.startsWith('test result: ')) {
      summaries += 1;
      failed.clear();
    } else if (failing !== undefined) told = { test: failing, lines: [], chars: 0 };
    else if (told !== undefined && told.chars < MAX_FAILURE_CHARS) {
      told.lines.push(line);
      told.chars += line.length;
    }
  });
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end() {
      lines.end();
      tellFailure();
      const { built, problems } = messages;
      if (built === undefined || (built && summaries === 0)) return undefined;
      return { tests: tests.map(withFailure), problems };
    },
  };
}

function withFailure(test: TestCase): TestCase {
  if (test.status !== 'failed' || test.failure !== undefined) return test;
  return { ...test, failure: { message: 'it failed, and said nothing' } };
}

function failureOf(text: string): { message: string; stack?: string } {
  const at = text.search(/^stack backtrace:$|^note: run with/m);
  if (at === -1) return { message: text };
  return { message: text.slice(0, at).trimEnd(), stack: text.slice(at) };
}
