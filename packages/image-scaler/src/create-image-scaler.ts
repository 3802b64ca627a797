import { Worker } from 'node:worker_threads';
import { assertOptions, type OptionNames, readImage, Turns } from '@ethosagent/policy';
import type { ImageFile, ImageScaler, ImageTarget } from '@ethosagent/types';

export interface ImageScalerOptions {
  /**
   * Milliseconds after which the scaler gives up an image. The number of pixels already bounds the
   * work, so this is for a decoder that hangs. 300,000 when absent.
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

const OPTIONS: OptionNames<ImageScalerOptions> = {
  timeoutMs: true,
};

/**
 * Creates a scaler for PNG, JPEG, GIF and WebP images, with the Photon library. It unpacks each
 * image in a thread of its own, in WebAssembly: bytes that attack the decoder reach only the memory
 * of that thread. It unpacks one image at a time. Of an animation it keeps the first picture.
 *
 * @param options `timeoutMs`: milliseconds that one image may take; 300,000 when absent
 * @returns the scaler; it need not be closed. `scale` returns `undefined` for an image that it
 * can't scale
 */
export function createImageScaler(options: ImageScalerOptions = {}): ImageScaler {
  assertOptions('createImageScaler', options, OPTIONS);
  const { timeoutMs = 300_000 } = options;
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
 * Returns the address of the thread's module, which lies beside this one. A thread can't load
 * TypeScript by itself, so it gets a loader for that.
 */
function threadModule(): { module: string; loader?: string } {
  const module = (ending: string) => new URL(`./scale-thread.${ending}`, import.meta.url).href;
  return import.meta.url.endsWith('.ts')
    ? { module: module('ts'), loader: import.meta.resolve('tsx/esm/api') }
    : { module: module('js') };
}
