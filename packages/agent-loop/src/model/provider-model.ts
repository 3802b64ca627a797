import type { LanguageModel } from 'ai';
import { ModelFailure } from './model-error.js';

/** The interface of the AI SDK's providers, by which the loop asks a model. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v3' }>;
export type ProviderRequest = Parameters<ProviderModel['doStream']>[0];
export type ProviderPart = StreamOf<Awaited<ReturnType<ProviderModel['doStream']>>['stream']>;
type StreamOf<Stream> = Stream extends ReadableStream<infer Part> ? Part : never;

/** The versions of the interface differ in how they say images, and in the last part of an answer. */
export type Version = 'v2' | 'v3' | 'v4';

/**
 * The model itself, or the one that the AI SDK's default provider has under a name: its gateway, if
 * the host set no other.
 *
 * @throws `ModelFailure` for a model of another version of the interface
 */
export async function providerModel(
  model: LanguageModel,
): Promise<{ model: ProviderModel; version: Version }> {
  if (typeof model === 'string') {
    const { AI_SDK_DEFAULT_PROVIDER: own } = globalThis;
    const provider = own ?? (await import('ai')).gateway;
    return providerModel(provider.languageModel(model));
  }
  const { specificationVersion: version }: { specificationVersion?: unknown } = Object(model);
  if (version === 'v2' || version === 'v3' || version === 'v4') {
    return { model: model as ProviderModel, version };
  }
  throw new ModelFailure(
    `the model has version ${String(version)} of the AI SDK's interface; give one of version v2, v3 or v4`,
    { isRetryable: false },
  );
}
