import { assertNumbers, isObject } from '@ethosagent/policy';
import { EthosError, type ImageMediaType } from '@ethosagent/types';

/** The limits of a model for the images of a result. */
export interface ImageLimits {
  /** The most images of one result. The others are left out. */
  maxImages: number;
  /** The most bytes of one image. */
  maxBytes: number;
  /** The most pixels of its longer side. */
  maxSidePixels: number;
  /** Providers themselves make a longer side this many pixels. With a scaler, that is done here. */
  fitSidePixels: number;
}

/** The limits of a provider's models. */
export interface ProviderImageLimits extends ImageLimits {
  /**
   * The media types that they read. An image of another type is converted to PNG by a scaler, or
   * left out.
   */
  mediaTypes: readonly ImageMediaType[];
}

/** The highest limit, whatever is asked for: one message of a session has to hold the images. */
export const MOST_IMAGES = 8;
export const MOST_IMAGE_BYTES = 3_000_000;
/** For all images of a result together. */
export const MOST_TOTAL_BYTES = 4_500_000;

const COMMON: ProviderImageLimits = {
  maxImages: 4,
  maxBytes: MOST_IMAGE_BYTES,
  maxSidePixels: 8_000,
  fitSidePixels: 1_568,
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp'],
};

/** The published limits by provider. `common` fits all of them, and is the default of a session. */
export const IMAGE_LIMITS = {
  common: COMMON,
  anthropic: { ...COMMON, mediaTypes: [...COMMON.mediaTypes, 'image/gif'] },
  openai: { ...COMMON, fitSidePixels: 2_048 },
  google: { ...COMMON, fitSidePixels: 3_072 },
} satisfies Record<string, ProviderImageLimits>;

const MOST: ImageLimits = {
  maxImages: MOST_IMAGES,
  maxBytes: MOST_IMAGE_BYTES,
  maxSidePixels: 16_384,
  fitSidePixels: 16_384,
};

/**
 * Completes limits.
 *
 * @param given the limits that differ from `base`; `true` if none do
 * @param base the other limits
 * @returns `false` for a model that takes no images
 * @throws `CONFIG_INVALID` for a limit that is unknown, or out of its range
 */
export function resolveImageLimits(
  given: boolean | Partial<ImageLimits> | undefined,
  base: ProviderImageLimits = COMMON,
): ProviderImageLimits | false {
  if (given === false) return false;
  if (given === undefined || given === true) return base;
  if (!isObject(given)) throw invalid('images must be true, false or limits; or leave it out');
  for (const [name, value] of Object.entries(given)) {
    const most = Object.entries(MOST).find(([known]) => known === name)?.[1];
    if (most === undefined) {
      throw invalid(`${name} is no limit of images; there are ${Object.keys(MOST).join(', ')}`);
    }
    assertNumbers(
      'images.',
      { [name]: value },
      {
        wanted: `a whole number from 1 to ${most}`,
        fits: (each) => Number.isInteger(each) && each >= 1 && each <= most,
      },
    );
  }
  const limits = { ...base, ...given };
  return { ...limits, fitSidePixels: Math.min(limits.fitSidePixels, limits.maxSidePixels) };
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}
