import { EthosError, type ImageMediaType } from '@ethosagent/types';

/** What a model takes of the images of a result. */
export interface ImageLimits {
  /** Images of one result. The others are left out. */
  maxImages: number;
  /** Bytes of one image. */
  maxBytes: number;
  /** Pixels of its longer side. */
  maxSidePixels: number;
  /** The longer side that providers make it smaller to by themselves: with a scaler it is done here. */
  fitSidePixels: number;
}

/** What the models of a provider take. */
export interface ProviderImageLimits extends ImageLimits {
  /** The kinds that they read. One of another kind is made a PNG by a scaler, or left out. */
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

/**
 * By provider, as they publish them. `common` holds with all of them, and is what a session has that
 * is told nothing else.
 */
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
 * Limits in full.
 *
 * @param given those that differ; `true` for none that do
 * @param base what the others are
 * @returns `false` for a model that takes no images
 * @throws `CONFIG_INVALID` for a limit that is unknown, or out of its range
 */
export function resolveImageLimits(
  given: boolean | Partial<ImageLimits> | undefined,
  base: ProviderImageLimits = COMMON,
): ProviderImageLimits | false {
  if (given === false) return false;
  if (given === undefined || given === true) return base;
  for (const [name, value] of Object.entries(given)) {
    const most = Object.entries(MOST).find(([known]) => known === name)?.[1];
    if (most === undefined) {
      throw invalid(`${name} is no limit of images; there are ${Object.keys(MOST).join(', ')}`);
    }
    if (!Number.isInteger(value) || value < 1 || value > most) {
      throw invalid(`${name} of images is ${value}; give a whole number from 1 to ${most}`);
    }
  }
  const limits = { ...base, ...given };
  return { ...limits, fitSidePixels: Math.min(limits.fitSidePixels, limits.maxSidePixels) };
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}
