import { join, resolve } from 'node:path';
import { errorCodeOf, type ScopedFs } from '@ethosagent/types';

const BATCH_CHARS = 256 * 1024;
const MIB = 1024 * 1024;

export interface SpillOptions {
  fs: ScopedFs;
  workingDir: string;
  /** Absolute, or below the working directory. */
  dir: string;
  maxMb: number;
  /** Characters up to which there is no file. */
  afterChars: number;
}

/** Where the whole output went, as far as it did. */
export interface Spilled {
  path?: string;
  /** The file has only the beginning. */
  isCut: boolean;
  /** Why there is no file, or no more of one. */
  problem?: string;
}

/** A file that gets the whole of an output, once it is larger than what is shown. */
export class SpillFile {
  readonly #options: SpillOptions;
  readonly #path: string;
  #buffer: string[] = [];
  #bufferedChars = 0;
  #writtenBytes = 0;
  #state: 'waiting' | 'open' | 'cut' | 'failed' = 'waiting';
  #problem: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SpillOptions) {
    this.#options = options;
    const dir = resolve(options.workingDir, options.dir);
    this.#path = join(dir, `${crypto.randomUUID()}.log`);
    if (options.maxMb === 0) this.#state = 'failed';
  }

  /** Takes the next part. A promise where the disk is behind. */
  add(text: string): void | Promise<void> {
    if (this.#state === 'cut' || this.#state === 'failed') return;
    this.#buffer.push(text);
    this.#bufferedChars += text.length;
    const wait = this.#state === 'waiting' ? this.#options.afterChars : BATCH_CHARS;
    if (this.#bufferedChars > wait) return this.#flush();
  }

  async end(): Promise<Spilled> {
    await this.#writing;
    if (this.#state === 'open' && this.#bufferedChars > 0) await this.#flush();
    const hasFile = this.#writtenBytes > 0;
    return {
      ...(hasFile && { path: this.#path }),
      isCut: hasFile && this.#state !== 'open',
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  #flush(): Promise<void> {
    const text = this.#buffer.join('');
    this.#buffer = [];
    this.#bufferedChars = 0;
    if (this.#state === 'waiting') this.#state = 'open';
    this.#writing = this.#writing.then(() => this.#write(text));
    return this.#writing;
  }

  async #write(text: string): Promise<void> {
    if (this.#state !== 'open') return;
    const { fs, maxMb } = this.#options;
    let bytes = Buffer.from(text);
    const room = Math.floor(maxMb * MIB) - this.#writtenBytes;
    if (bytes.length > room) {
      this.#state = 'cut';
      // Not within a character: where a continuation byte would come next, its beginning goes too.
      let end = Math.max(0, room);
      while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
      bytes = Buffer.concat([
        bytes.subarray(0, end),
        Buffer.from(
          `\n[cut here: the output grew over ${maxMb} MiB; what followed was not kept]\n`,
        ),
      ]);
    }
    try {
      if (this.#writtenBytes === 0) await this.#hideFromGit();
      await fs.append(this.#path, bytes);
      this.#writtenBytes += bytes.length;
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
      this.#state = 'failed';
      this.#problem = error instanceof Error ? error.message : 'it could not be written';
    }
  }

  // Nobody wants to commit what a command once printed.
  async #hideFromGit(): Promise<void> {
    const file = join(this.#path, '..', '.gitignore');
    if (!(await this.#options.fs.exists(file))) await this.#options.fs.write(file, '*\n');
  }
}
