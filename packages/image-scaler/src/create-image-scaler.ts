import { Worker } from 'node:worker_threads';
import { readImage, Turns } from '@ethosagent/policy';
import type { ImageFile, ImageScaler, ImageTarget } from '@ethosagent/types';

export interface ImageScalerOptions {
  /**
   * Milliseconds after which an image is given up. Its pixels bound what it takes: this is for a decoder
   * that hangs. 300,000.
   */
  timeoutMs?: number;
}

// One at a time: otherwise their use of memory would add up.
const turns = new Turns(1);

const PROGRAM = `
const { workerData } = require('node:worker_threads');
const { loader, module } = workerData;
(async () => {
  if (loader !== undefined) (await import(loader)).register();
  await import(module);
})();
`;

/**
 * A scaler of PNG, JPEG, GIF and WebP, by the Photon library. Each image is unpacked in a thread of its
 * own, in WebAssembly: bytes that attack a decoder reach the memory of that thread, and nothing of the
 * process. One is unpacked at a time. Of an animation there is the first picture.
 *
 * @param options how long one image may take
 * @returns the scaler; it needs no closing
 */
export function createImageScaler({ timeoutMs = 300_000 }: ImageScalerOptions = {}): ImageScaler {
  return {
    async scale({ mediaType, width, height, bytes }, { signal = NEVER, ...target }) {
      // An image that was not checked may declare one size and have another.
      if (readImage(bytes)?.ok !== true) return undefined;
      const file = { mediaType, width, height, bytes };
      return turns.run('', () => inThread(file, { ...target, signal, timeoutMs }), signal);
    },
  };
}

const NEVER = new AbortController().signal;

function inThread(
  file: ImageFile,
  { signal, timeoutMs, ...target }: ImageTarget & { signal: AbortSignal; timeoutMs: number },
): Promise<Uint8Array | undefined> {
  signal.throwIfAborted();
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData: threadModule(),
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  return new Promise<Uint8Array | undefined>((resolve, reject) => {
    const none = () => resolve(undefined);
    const timer = setTimeout(none, timeoutMs);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.on('message', (made: unknown) => resolve(made instanceof Uint8Array ? made : undefined));
    // The image could not be unpacked, or needed too much memory.
    worker.on('error', none).on('exit', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      none();
    });
    worker.postMessage({ ...file, ...target });
  }).finally(() => worker.terminate());
}

/**
 * The module of the thread, which lies beside this one. A thread can't load TypeScript by itself,
 * so it gets a loader for that.
 */
function threadModule(): { module: string; loader?: string } {
  const module = (ending: string) => new URL(`./scale-thread.${ending}`, import.meta.url).href;
  return import.meta.url.endsWith('.ts')
    ? { module: module('ts'), loader: import.meta.resolve('tsx/esm/api') }
    : { module: module('js') };
}
