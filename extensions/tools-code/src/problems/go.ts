import { relative } from 'node:path';
import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import { parseJson } from '../output/parse-json.js';
import type { Runner, RunRequest } from '../project/runner.js';
import type { Problem, ProblemReport } from '../report.js';

const MAX_PROBLEMS = 20_000;

/** Matches a line of Go's compiler, or of `vet` when the code does not compile. */
const LINE = /^(?:vet: )?(.+?\.go):(\d+):(?:(\d+):)? (.*)$/;
const POSITION = /^(.+):(\d+):(\d+)$/;

const findings = z.record(
  z.string(),
  z.record(
    z.string(),
    z.union([z.array(z.object({ posn: z.string(), message: z.string() })), z.unknown()]),
  ),
);

/** Reads the problem in a line of the compiler; `undefined` when there is none. */
export function goProblem(line: string): Problem | undefined {
  const [, file, row, column, message] = LINE.exec(line) ?? [];
  if (file === undefined || message === undefined) return undefined;
  return { file, line: Number(row), column: Number(column ?? 0), severity: 'error', message };
}

/** Returns the pattern of the packages below the target. */
export function goPackages({ root, target, isTargetFile }: RunRequest): string {
  if (target === undefined) return './...';
  const below = relative(root, target);
  const folder = isTargetFile ? below.replace(/[^/]*$/, '').replace(/\/$/, '') : below;
  const at = folder === '' ? '.' : `./${folder}`;
  return isTargetFile ? at : `${at}/...`;
}

/** Runs `go vet`, and reads its JSON report. */
export const goVet: Runner<ProblemReport> = {
  name: 'go-vet',
  title: 'go vet',
  language: 'go',
  signs: { files: ['go.mod'] },
  async commands(request) {
    return [{ binary: 'go', args: ['vet', '-json', goPackages(request)], cwd: request.root }];
  },
  parser() {
    const problems: Problem[] = [];
    // One JSON document for each package, each begun and ended by a brace of its own line.
    let json: string[] | undefined;
    let ended = 0;
    const lines = new LineReader((line) => {
      if (json === undefined) {
        if (line === '{}') ended += 1;
        else if (line === '{') json = [line];
        else addGoProblem(problems, goProblem(line));
        return;
      }
      json.push(line);
      if (line !== '}') return;
      const found = parseJson(findings, json.join('\n'));
      json = undefined;
      if (found === undefined) return;
      ended += 1;
      for (const problem of vetProblems(found)) addGoProblem(problems, problem);
    });
    return {
      // Older versions write it to standard error, newer ones to standard output.
      add: (text) => lines.add(text),
      end(exitCode) {
        lines.end();
        return exitCode === 0 || problems.length > 0 || (ended > 0 && exitCode === 1)
          ? { problems }
          : undefined;
      },
    };
  },
};

function* vetProblems(found: z.output<typeof findings>): Generator<Problem> {
  for (const [rule, places] of Object.values(found).flatMap((rules) => Object.entries(rules))) {
    if (!Array.isArray(places)) continue;
    for (const { posn, message } of places) {
      const [, file = posn, row = 0, column = 0] = POSITION.exec(posn) ?? [];
      yield {
        file,
        line: Number(row),
        column: Number(column),
        rule,
        severity: 'warning',
        message,
      };
    }
  }
}

/** Runs `go build`, and reads its messages. It keeps no output file. */
export const goBuild: Runner<ProblemReport> = {
  name: 'go-build',
  title: 'go build',
  language: 'go',
  signs: { files: ['go.mod'] },
  async commands(request) {
    const args = ['build', '-gcflags=-e', '-o', '/dev/null', goPackages(request)];
    return [{ binary: 'go', args, cwd: request.root }];
  },
  parser() {
    const problems: Problem[] = [];
    const lines = new LineReader((line) => addGoProblem(problems, goProblem(line)));
    return {
      add: (text) => lines.add(text),
      end(exitCode) {
        lines.end();
        return exitCode === 0 || problems.length > 0 ? { problems } : undefined;
      },
    };
  },
};

/** Adds a problem, if there is one, up to the number that a report has. */
export function addGoProblem(problems: Problem[], problem: Problem | undefined): void {
  if (problem !== undefined && problems.length < MAX_PROBLEMS) problems.push(problem);
}
