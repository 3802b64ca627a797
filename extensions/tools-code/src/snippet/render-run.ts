/** How a snippet ended. */
export interface EndedRun {
  exitCode: number;
  signal: string | undefined;
  timedOut: boolean;
  timeoutMs: number;
  stdout: string;
  stderr: string;
}

/** Renders the output of a snippet. When it failed, the last line says how it ended. */
export function renderRun(run: EndedRun): string {
  const parts = [run.stdout.trimEnd()];
  if (run.stderr.trim() !== '') parts.push(`[standard error]\n${run.stderr.trimEnd()}`);
  const ending = endingOf(run);
  if (run.timedOut) parts.unshift(ending);
  else if (ending !== '') parts.push(ending);
  const text = parts.filter((part) => part !== '').join('\n');
  return text === '' ? '[it printed nothing]' : text;
}

function endingOf({ exitCode, signal, timedOut, timeoutMs }: EndedRun): string {
  if (timedOut) {
    return `it did not end within ${timeoutMs / 1000} s and was stopped. Until then it printed:`;
  }
  if (signal !== undefined) return `[ended by ${signal}: a crash, or a limit that it ran into]`;
  return exitCode === 0 ? '' : `[exit code ${exitCode}]`;
}
