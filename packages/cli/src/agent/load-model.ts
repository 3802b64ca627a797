import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LanguageModel } from 'ai';
import { messageOf, usageError } from '../cli-error.js';

type Model = Exclude<LanguageModel, string>;

const NAME = /^([a-z][a-z0-9-]*)\/(.+)$/;

/**
 * A model of an AI SDK provider that is installed in the project.
 *
 * @param name such as `anthropic/<model>`: the export `anthropic` of `@ai-sdk/anthropic`, called
 * with the rest of the name
 * @param cwd the folder whose packages are searched
 * @throws `CONFIG_INVALID` if the provider is not installed, or the export is not a provider
 */
export async function loadModel(name: string, cwd: string): Promise<Model> {
  const [, provider = '', model = ''] = NAME.exec(name) ?? [];
  if (provider === '') {
    throw usageError(
      `the model ${name} is not of the form provider/model, as in anthropic/<model>`,
    );
  }
  const package_ = `@ai-sdk/${provider}`;
  let file: string;
  try {
    file = createRequire(join(cwd, 'package.json')).resolve(package_);
  } catch {
    throw usageError(`${package_} is not installed in ${cwd}; run "npm install ${package_}"`);
  }
  let loaded: Record<string, unknown>;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    throw usageError(`${package_} can not be loaded: ${messageOf(error)}`);
  }
  const exported = provider.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const create = loaded[exported] ?? Object(loaded.default)[exported];
  const made: unknown = typeof create === 'function' ? create(model) : undefined;
  if (!isModel(made)) {
    throw usageError(`${package_} has no export ${exported} that makes a language model`);
  }
  return made;
}

function isModel(value: unknown): value is Model {
  const { doStream, modelId }: { doStream?: unknown; modelId?: unknown } = Object(value);
  return typeof doStream === 'function' && typeof modelId === 'string';
}
