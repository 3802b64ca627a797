/** Providers whose tool results can hold images; others get them as text, or refuse the request. */
const WITH_IMAGES =
  /^(?:anthropic|openai\.responses|google|vertex|amazon-bedrock|azure\.responses)/;

/** Whether a model takes images in tool results, as far as the name of its provider says. */
export function takesImages(model: unknown): boolean {
  const { provider }: { provider?: unknown } = Object(model);
  return typeof provider === 'string' && WITH_IMAGES.test(provider);
}
