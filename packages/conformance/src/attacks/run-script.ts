import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';

/** The arguments of a script, and the limits of its process. */
export interface ScriptOptions {
  args?: readonly string[];
  /**
   * Mounts a file system of this size over the empty folder `at`. Only this script sees it. Linux
   * only.
   */
  smallDisk?: { at: string; kilobytes: number };
  /** The most descriptors that the script may have open at once. Linux only. */
  openFiles?: number;
  /** The most kilobytes of a file that the script writes. Linux only. */
  fileKilobytes?: number;
}

/** A running script. */
export interface RunningScript {
  readonly child: ChildProcess;
  /** Returns the complete lines of its standard output so far. */
  lines(): string[];
  /** Resolves when the script has ended and all its output has arrived. */
  readonly ended: Promise<{
    code: number | null;
    signal: NodeJS.Signals | null;
    errors: string;
  }>;
}

/**
 * Starts a script of Node.js in a process of its own, which a test may kill.
 *
 * @param file the absolute path of the script
 * @param options arguments and limits
 * @returns the running script
 */
export function startScript(file: string, options: ScriptOptions = {}): RunningScript {
  const [binary = '', ...args] = [
    ...conditions(options),
    process.execPath,
    file,
    ...(options.args ?? []),
  ];
  const child = spawn(binary, args, {
    cwd: dirname(file),
    env: {
      // biome-ignore lint/style/noProcessEnv: where the tools are that make the conditions
      PATH: process.env.PATH,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return {
    child,
    lines: () => output.split('\n').slice(0, -1),
    ended: once(child, 'close').then(() => ({
      code: child.exitCode,
      signal: child.signalCode,
      errors,
    })),
  };
}

/**
 * Runs a script of Node.js to its end.
 *
 * @param file the absolute path of the script
 * @param options arguments and limits
 * @returns the lines of the standard output
 * @throws an error with the script's standard error output, if the exit code is not 0
 */
export async function runScript(file: string, options: ScriptOptions = {}): Promise<string[]> {
  const script = startScript(file, options);
  const { code, signal, errors } = await script.ended;
  if (code !== 0) throw new Error(`${file} ended with ${code ?? signal}: ${errors}`);
  return script.lines();
}

function conditions({ smallDisk, openFiles, fileKilobytes }: ScriptOptions): string[] {
  const limits = [
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}`]),
    ...(fileKilobytes === undefined ? [] : [`--fsize=${fileKilobytes * 1024}`]),
  ];
  // In a user namespace, the caller need not be root. The mount disappears with the last process.
  const mount = 'mount -t tmpfs -o "size=$1k" ethos "$2" && shift 2 && exec "$@"';
  return [
    ...(smallDisk === undefined ? [] : ['unshare', '-Urm', '--', 'sh', '-c', mount, 'sh']),
    ...(smallDisk === undefined ? [] : [`${smallDisk.kilobytes}`, smallDisk.at]),
    ...(limits.length === 0 ? [] : ['prlimit', ...limits, '--']),
  ];
}
