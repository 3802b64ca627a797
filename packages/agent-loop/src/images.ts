import {
  IMAGE_LIMITS,
  type ProviderImageLimits,
  resolveImageLimits,
  type ShowImagesOptions,
} from '@ethosagent/core';
import type { AgentLoopOptions } from './api.js';

/**
 * The providers whose tool results can contain images. Other providers get text instead, or refuse
 * the request.
 */
const WITH_IMAGES: readonly [provider: RegExp, limits: ProviderImageLimits, modelId?: RegExp][] = [
  [/^(?:openai|azure)\.responses/, IMAGE_LIMITS.openai],
  [/^(?:vertex\.anthropic|google-vertex\.anthropic|anthropic)/, IMAGE_LIMITS.anthropic],
  [/^amazon-bedrock/, IMAGE_LIMITS.anthropic, /anthropic/],
  [/^amazon-bedrock/, IMAGE_LIMITS.common, /nova/],
  [/^(?:google|vertex)/, IMAGE_LIMITS.google],
];

/** The limits for images in tool results, according to the name of the model's provider. */
export function limitsOfModel(model: unknown): ProviderImageLimits | false {
  const { provider, modelId }: { provider?: unknown; modelId?: unknown } = Object(model);
  if (typeof provider !== 'string') return false;
  const found = WITH_IMAGES.find(
    ([name, , id]) => name.test(provider) && (id === undefined || id.test(String(modelId))),
  );
  return found?.[1] ?? false;
}

/** Returns how the model of a loop sees the images of results. @throws `CONFIG_INVALID` */
export function imagePlan({
  model,
  toolImages,
  imageScaler,
}: Pick<AgentLoopOptions, 'model' | 'toolImages' | 'imageScaler'>): ShowImagesOptions {
  const known = limitsOfModel(model);
  const limits =
    toolImages === undefined
      ? known
      : resolveImageLimits(toolImages, known === false ? undefined : known);
  return { limits, scaler: imageScaler };
}
