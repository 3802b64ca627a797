import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { PASS_VARIABLE, WORLD_VARIABLE } from './world-backends.js';

const SANDBOX = /(^|\/)bwrap$/;

interface SpawnOptions {
  file?: unknown;
  args?: unknown;
  envPairs?: unknown;
}

/** The accesses that a tool made through the platform instead of its context. */
export interface RawAccess {
  /** Returns the accesses since the last call of `drain`. */
  drain(): string[];
  restore(): void;
}

/**
 * Watches what a tool does around its context, as far as that is visible within the process. The
 * global `fetch` is redirected into the world. Processes are marked as the world's.
 *
 * @param mark the mark of the run's processes
 */
export function watchRawAccess(rawFetch: typeof globalThis.fetch, mark: string): RawAccess {
  const seen = new Set<string>();
  const undo = [
    replace(globalThis, 'fetch', () => (input: string | URL | Request, init?: RequestInit) => {
      const url = input instanceof Request ? input.url : String(input);
      if (/^https?:/.test(url)) seen.add(`called the global fetch for ${withoutQuery(url)}`);
      return rawFetch(input, init);
    }),
    replace(
      ChildProcess.prototype,
      'spawn',
      (original) =>
        function spawn(this: ChildProcess, options: SpawnOptions) {
          if (!isPassed(options)) {
            seen.add(`started the process ${options.file} with node:child_process`);
          }
          return Reflect.apply(original, this, [options]);
        },
    ),
    ...(['spawnSync', 'execSync', 'execFileSync'] as const).map((name) =>
      replace(childProcess, name, (original) => (...args: unknown[]) => {
        // The framework itself tests once whether this machine can make sandboxes.
        if (!SANDBOX.test(String(args[0]))) seen.add(`called ${name} of node:child_process`);
        return Reflect.apply(original, childProcess, args);
      }),
    ),
    inherit(WORLD_VARIABLE, mark),
  ];
  syncBuiltinESMExports();
  return {
    drain() {
      const what = [...seen];
      seen.clear();
      return what;
    },
    restore() {
      for (const one of undo) one();
      syncBuiltinESMExports();
    },
  };
}

function replace(
  target: object,
  name: string,
  // biome-ignore lint/complexity/noBannedTypes: whatever the platform has there is called as it was
  replacement: (original: Function) => unknown,
): () => void {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== 'function') return () => {};
  Reflect.set(target, name, replacement(original));
  return () => void Reflect.set(target, name, original);
}

/** Sets a variable by which a process without an environment of its own is recognized. */
function inherit(name: string, value: string): () => void {
  const { env } = process;
  const before = env[name];
  env[name] = value;
  return () => {
    if (before === undefined) delete env[name];
    else env[name] = before;
  };
}

/**
 * Whether the mark is in the environment, or in the arguments if a sandbox sets the environment.
 */
function isPassed({ envPairs, args }: SpawnOptions): boolean {
  return [envPairs, args]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .some((text) => String(text).startsWith(PASS_VARIABLE));
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
