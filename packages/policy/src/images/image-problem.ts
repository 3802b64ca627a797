/** Why an image can't be read. */
export class ImageProblem extends Error {
  readonly problem: string;

  constructor(problem: string) {
    super(problem);
    this.problem = problem;
  }
}

/** Reads numbers from a file. A read beyond the end reports that the file is cut off. */
export class ImageBytes {
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.bytes.length;
  }

  u8(at: number): number {
    return this.#read(at, 1, () => this.#view.getUint8(at));
  }

  u16(at: number, isLittle = false): number {
    return this.#read(at, 2, () => this.#view.getUint16(at, isLittle));
  }

  u24(at: number): number {
    return this.u16(at, true) | (this.u8(at + 2) << 16);
  }

  u32(at: number, isLittle = false): number {
    return this.#read(at, 4, () => this.#view.getUint32(at, isLittle));
  }

  /** The characters in Latin-1. */
  text(at: number, length: number): string {
    return this.#read(at, length, () =>
      String.fromCharCode(...this.bytes.subarray(at, at + length)),
    );
  }

  #read<T>(at: number, length: number, read: () => T): T {
    if (at + length > this.length) throw new ImageProblem('it is cut off');
    return read();
  }
}

/** Width and height in pixels. */
export interface ImageSize {
  width: number;
  height: number;
}
