import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import type {
  ProcessLimits,
  ProcessResult,
  ScopedCalls,
  ScopedProcess,
  ToolContext,
  ToolResult,
} from '@ethosagent/types';
import { errorCodeOf } from '@ethosagent/types';
import { z } from 'zod';
import { GRACE_MS } from './code-settings.js';
import { cleanText, quoteFrames } from './output/clean-text.js';
import { HeadTail } from './output/head-tail.js';
import { ProgramCalls } from './programs/program-calls.js';
import { withAccessFailures } from './project/failures.js';
import { LANGUAGES, type LanguageCommand } from './snippet/languages.js';
import { renderRun } from './snippet/render-run.js';
import { type Snippet, shellArguments, starterArguments } from './snippet/snippet-command.js';

const MAX_CHARS = 100_000;
const MAX_TIMEOUT_MS = 120_000;

const WITHOUT_NUL = /^[^\0]*$/;

const settings = z.strictObject({
  default_timeout_ms: z
    .int()
    .min(100)
    .max(MAX_TIMEOUT_MS)
    .default(10_000)
    .describe('Milliseconds that a snippet may take when the call names no time.'),
  memory_mb: z
    .int()
    .min(32)
    .max(65_536)
    .default(2_048)
    .describe('MiB of address space that each process may have. Node needs at least 768 to start.'),
  processes: z
    .int()
    .min(4)
    .max(4_096)
    .default(64)
    .describe('How many processes and threads may run at the same time.'),
  file_size_mb: z.int().min(1).max(1_024).default(64).describe('MiB that a file may have.'),
  max_output_chars: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(20_000)
    .describe(
      'Characters of standard output, and of standard error, that are kept. Of a longer text, both ends.',
    ),
  tools: z
    .array(z.string().min(1))
    .max(200)
    .default([])
    .describe('The tools that a snippet may call. The personality must have them, too.'),
  max_calls: z.int().min(1).max(10_000).default(100).describe('How many calls a snippet may make.'),
  max_calls_at_once: z
    .int()
    .min(1)
    .max(64)
    .default(8)
    .describe('How many calls of a snippet run at the same time.'),
});

type RunCodeSettings = z.output<typeof settings>;

interface RunCodeArgs {
  code: string;
  stdin?: string | undefined;
  language: keyof typeof LANGUAGES;
  timeout_ms?: number | undefined;
}

type RunCodeContext = Pick<ToolContext, 'abortSignal' | 'dryRun'> & {
  scopedProcess: ScopedProcess;
  calls: ScopedCalls;
  settings: RunCodeSettings;
};

/**
 * Runs a snippet of Python, JavaScript or bash. It always runs in a sandbox, whatever the
 * personality says; without a sandbox, it does not run. Needs `process` with `python3`, `node` and
 * `bash`, sandbox required, and `calls` with the tools that its settings list.
 */
export const runCodeTool = defineTool({
  name: 'run_code',
  description:
    'Run a snippet of Python, JavaScript (Node) or bash in a sandbox: no network, no files except its own empty /tmp, limits on time and memory. Shows what it prints, so print the result. Nothing is kept between calls. It may call the tools that the operator lists: `await tools.read_file({ path })` in JavaScript, `tools.read_file(path=...)` in Python. A call returns the text of the result; `tools.read_file.full(...)` returns its `text` and `structured`; a failure throws ToolError with a `code`. Only what is printed is shown, so do many calls in one snippet and print what matters.',
  toolset: 'code',
  input: z.strictObject({
    language: z.enum(['python', 'javascript', 'bash']).describe('The language of the snippet.'),
    code: z
      .string()
      .min(1)
      .max(MAX_CHARS)
      .regex(WITHOUT_NUL, 'must not hold a NUL')
      .describe('The snippet. Only what it prints is shown.'),
    stdin: z
      .string()
      .max(MAX_CHARS)
      .regex(WITHOUT_NUL, 'must not hold a NUL')
      .optional()
      .describe('The text on its standard input. Nothing when absent.'),
    timeout_ms: z
      .int()
      .min(100)
      .max(MAX_TIMEOUT_MS)
      .optional()
      .describe('Milliseconds after which the snippet is ended.'),
  }),
  settings,
  capabilities: {
    process: { allowedBinaries: ['python3', 'node', 'bash'], sandbox: 'required' },
    calls: { tools: 'from-settings' },
  },
  outputIsUntrusted: true,
  supportsDryRun: true,
  timeoutMs: MAX_TIMEOUT_MS + GRACE_MS,
  execute: (args, ctx) => withAccessFailures(() => runCode(args, ctx)),
});

async function runCode(args: RunCodeArgs, ctx: RunCodeContext): Promise<ToolResult> {
  const { language, code } = args;
  const timeoutMs = args.timeout_ms ?? ctx.settings.default_timeout_ms;
  if (ctx.dryRun === true) {
    return ok(
      `[dry-run] ${code.length} characters of ${language} would be run in a sandbox, for ${timeoutMs / 1000} s at most`,
      { structured: { dryRun: true, language }, untrusted: false },
    );
  }
  const sandbox = new SnippetSandbox(ctx, timeoutMs);
  const begun = performance.now();
  const { tools } = ctx.calls;
  const outcome = await sandbox.run(LANGUAGES[language], { ...args, tools });
  if (outcome === undefined) {
    return err(
      `${LANGUAGES[language].binary} is not installed where a sandbox can see it; use another language, or ask the user to install it.`,
      'not_available',
    );
  }
  const { stdout, stderr, exitCode, signal } = outcome;
  const timedOut = outcome.timedOut === true;
  const shown = (text: string) => quoteFrames(cleanText(text));
  const value = renderRun({
    exitCode,
    signal,
    timedOut,
    timeoutMs,
    stdout: stdout.text(shown),
    stderr: stderr.text(shown),
  });
  if (timedOut) return err(value, 'execution_failed', 'CALL_TIMED_OUT');
  return ok(value, {
    structured: {
      language,
      exitCode,
      ...(signal !== undefined && { signal }),
      stdout: stdout.text(cleanText),
      stderr: stderr.text(cleanText),
      truncated: stdout.isCut || stderr.isCut,
      ...(outcome.calls > 0 && { calls: outcome.calls }),
      durationMs: Math.round(performance.now() - begun),
    },
  });
}

/** How a snippet ended, and what it printed. */
interface Outcome extends Pick<ProcessResult, 'exitCode' | 'signal' | 'timedOut'> {
  stdout: HeadTail;
  stderr: HeadTail;
  /** The number of tool calls. */
  calls: number;
}

/**
 * Runs a snippet with an interpreter of the system in the sandbox, or with one from the host's
 * `PATH`.
 */
class SnippetSandbox {
  readonly #ctx: RunCodeContext;
  readonly #timeoutMs: number;

  constructor(ctx: RunCodeContext, timeoutMs: number) {
    this.#ctx = ctx;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs the snippet. Returns `undefined` when there is no interpreter. */
  async run(command: LanguageCommand, snippet: Snippet): Promise<Outcome | undefined> {
    const missing = crypto.randomUUID();
    const hasTools = command.prelude !== undefined && snippet.tools?.length !== 0;
    const run = (binary: string, args: string[]) => this.#spawn(binary, args, hasTools);
    const outcome = await run('bash', shellArguments(command, snippet, missing));
    const isMissing = outcome?.exitCode === 127 && outcome.stderr.text() === missing;
    if (outcome !== undefined && !isMissing) return outcome;
    const { binary, starter } = command;
    if (starter === undefined) return undefined;
    return run(binary, starterArguments(starter, command, snippet));
  }

  async #spawn(binary: string, args: string[], hasTools: boolean): Promise<Outcome | undefined> {
    const { settings, scopedProcess, calls } = this.#ctx;
    const program = new ProgramCalls(calls, {
      maxCalls: settings.max_calls,
      maxCallsAtOnce: settings.max_calls_at_once,
    });
    const output = {
      stdout: new HeadTail(settings.max_output_chars),
      stderr: new HeadTail(settings.max_output_chars),
    };
    try {
      const result = await scopedProcess.spawn(binary, args, {
        env: { TERM: 'dumb', NO_COLOR: '1' },
        timeout: this.#timeoutMs,
        limits: limitsOf(settings, this.#timeoutMs),
        overflow: 'drop',
        maxOutputBytes: 0,
        onOutput: (text, stream) => output[stream].add(text),
        ...(hasTools && { onChannel: (channel) => program.serve(channel) }),
      });
      await program.end();
      return { ...result, ...output, calls: program.count };
    } catch (error) {
      if (errorCodeOf(error) === 'SPAWN_FAILED') return undefined;
      throw error;
    } finally {
      await program.end();
    }
  }
}

function limitsOf(settings: RunCodeSettings, timeoutMs: number): ProcessLimits {
  return {
    memory_mb: settings.memory_mb,
    processes: settings.processes,
    file_size_mb: settings.file_size_mb,
    cpu_seconds: Math.ceil(timeoutMs / 1000) + 1,
    open_files: 256,
  };
}
