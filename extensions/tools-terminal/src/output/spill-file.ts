import { join, resolve } from 'node:path';
import { errorCodeOf, type ScopedFs } from '@ethosagent/types';

const BATCH_CHARS = 256 * 1024;
const MIB = 1024 * 1024;

export interface SpillOptions {
  fs: ScopedFs;
  workingDir: string;
  /** The folder of the file: absolute, or relative to the working directory. */
  dir: string;
  maxMb: number;
  /** The file is written when the output has more characters than this. */
  afterChars: number;
}

/** The file with the whole output, if there is one. */
export interface Spilled {
  path?: string;
  /** Whether the file has only the beginning of the output. */
  isCut: boolean;
  /** Why there is no file, or why the file is incomplete. */
  problem?: string;
}

/** Writes the whole output to a file when it is larger than the shown part. */
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

  /** Adds the next part. When the disk is slower, it returns a promise to wait for. */
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
