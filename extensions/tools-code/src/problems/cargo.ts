import { join } from 'node:path';
import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { parseJson } from '../output/parse-json.js';
import { ancestors } from '../project/file-path.js';
import { type ProjectFiles, partOf } from '../project/project-files.js';
import type { RunCommand, Runner, RunRequest } from '../project/runner.js';
import type { Problem, ProblemReport, Severity } from '../report.js';

const MAX_PROBLEMS = 20_000;

const span = z.object({
  file_name: z.string(),
  line_start: z.int(),
  column_start: z.int(),
  line_end: z.int(),
  column_end: z.int(),
  is_primary: z.boolean(),
});

// https://doc.rust-lang.org/rustc/json.html, in what `cargo --message-format=json` wraps it.
const cargoMessage = z.object({
  reason: z.string(),
  success: z.boolean().optional(),
  message: z
    .object({
      message: z.string(),
      level: z.string(),
      code: z.object({ code: z.string() }).nullish(),
      spans: z.array(span),
      children: z.array(z.object({ level: z.string(), message: z.string() })),
    })
    .optional(),
});

const SEVERITIES: Readonly<Record<string, Severity>> = {
  error: 'error',
  'error: internal compiler error': 'error',
  warning: 'warning',
};

/** Matches the summary lines of the compiler. */
const SUMS_UP = /^(aborting due to |\d+ warnings? emitted)/;

/**
 * Collects the messages of the compiler. Every target of a package repeats them; each counts once.
 */
export class CargoMessages {
  readonly problems: Problem[] = [];
  readonly #seen = new Set<string>();
  /** Whether everything was built; `undefined` before the end of the build. */
  built: boolean | undefined;

  /** Reads a line. @returns whether it was a message */
  take(line: string): boolean {
    if (!line.startsWith('{')) return false;
    const found = parseJson(cargoMessage, line);
    if (found === undefined) return false;
    if (found.reason === 'build-finished') this.built = found.success === true;
    if (found.reason === 'compiler-message' && found.message) this.#add(found.message);
    return true;
  }

  #add({
    message,
    level,
    code,
    spans,
    children,
  }: NonNullable<z.output<typeof cargoMessage>['message']>) {
    const severity = SEVERITIES[level];
    const primary = spans.find(({ is_primary }) => is_primary);
    if (severity === undefined || (primary === undefined && SUMS_UP.test(message))) return;
    const helps = children.map((child) => `\n${child.level}: ${child.message}`);
    const problem: Problem = {
      file: primary?.file_name ?? '',
      line: primary?.line_start ?? 0,
      column: primary?.column_start ?? 0,
      ...(primary && { endLine: primary.line_end, endColumn: primary.column_end }),
      ...(code && { rule: code.code }),
      severity,
      message: message + helps.join(''),
    };
    const key = JSON.stringify(problem);
    if (this.#seen.has(key) || this.problems.length >= MAX_PROBLEMS) return;
    this.#seen.add(key);
    this.problems.push(problem);
  }
}

export function cargoParser(): OutputParser<ProblemReport> {
  const messages = new CargoMessages();
  const lines = new LineReader((line) => messages.take(line));
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end() {
      lines.end();
      return messages.built === undefined ? undefined : { problems: messages.problems };
    },
  };
}

/**
 * Returns the command of a cargo run. Paths of the compiler start at the workspace, not where cargo
 * runs.
 */
export async function cargoCommand(
  { root }: RunRequest,
  files: ProjectFiles,
  args: string[],
): Promise<RunCommand> {
  const command = { binary: 'cargo', args, cwd: root };
  for (const folder of ancestors(root)) {
    if ((await files.names(folder)) === undefined) break;
    const manifest = await files.toml(join(folder, 'Cargo.toml'));
    if (partOf(manifest, 'workspace') !== undefined) return { ...command, base: folder };
  }
  return command;
}

const rust = { language: 'rust', signs: { files: ['Cargo.toml'] } } as const;

/** Runs Clippy, and reads cargo's JSON messages. */
export const clippy: Runner<ProblemReport> = {
  ...rust,
  name: 'clippy',
  title: 'Clippy',
  async commands(request, files) {
    const fixing = request.fix ? ['--fix', '--allow-dirty', '--allow-staged'] : [];
    const args = ['clippy', '--message-format=json', '--all-targets', ...fixing];
    return [await cargoCommand(request, files, args)];
  },
  parser: cargoParser,
};

/** Runs `cargo check`, and reads its JSON messages. */
export const cargoCheck: Runner<ProblemReport> = {
  ...rust,
  name: 'cargo-check',
  title: 'cargo check',
  async commands(request, files) {
    return [
      await cargoCommand(request, files, ['check', '--message-format=json', '--all-targets']),
    ];
  },
  parser: cargoParser,
};
