/** The kinds of images that models read. */
export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** What an image says of itself in its header. */
export interface ImageFacts {
  mediaType: ImageMediaType;
  /** In pixels. */
  width: number;
  /** In pixels. */
  height: number;
}

/** An image in bytes. */
export interface ImageFile extends ImageFacts {
  bytes: Uint8Array;
}

/** What an image has to come down to. */
export interface ImageTarget {
  /** Pixels of its longer side. */
  maxSidePixels: number;
  maxBytes: number;
  signal?: AbortSignal;
}

/**
 * Makes images smaller. `createImageScaler` of `@ethosagent/image-scaler` makes one; a host may
 * have its own.
 */
export interface ImageScaler {
  /**
   * Makes an image smaller. Treat the image as hostile: anybody may have written it.
   *
   * @returns an image of one of the four kinds that fits the target, or `undefined` where there is
   * none
   * @throws the reason of the signal
   */
  scale(image: ImageFile, target: ImageTarget): Promise<Uint8Array | undefined>;
}
