import { createRequire } from 'node:module';
import { EthosError } from '@ethosagent/types';

type Yaml = typeof import('yaml');
type Zod = typeof import('zod');

let loadedYaml: Yaml | undefined;
let loadedZod: Zod | undefined;

/**
 * The YAML library, loaded at the first use.
 *
 * @throws `TOOL_UNAVAILABLE` when it can't be loaded
 */
export function yaml(): Yaml {
  loadedYaml ??= orUnavailable('yaml', (require): Yaml => require('yaml'));
  return loadedYaml;
}

/**
 * Zod, loaded at the first use. Where `loadLibraries` was called before, it is the module that tools
 * import. Otherwise it is a copy of its own in CommonJS, since the caller does not wait.
 *
 * @throws `TOOL_UNAVAILABLE` when it can't be loaded
 */
export function zod(): Zod {
  loadedZod ??= orUnavailable('zod', (require): Zod => require('zod'));
  return loadedZod;
}

/**
 * Loads both, for callers that can wait. A bundler sees these imports, and it does not see a
 * `require`: what opens a runtime or reads a personality calls this first.
 *
 * @throws `TOOL_UNAVAILABLE` when one can't be loaded
 */
export async function loadLibraries(): Promise<void> {
  loadedYaml ??= await loadYaml().catch((cause) => Promise.reject(unavailable('yaml', cause)));
  loadedZod ??= await import('zod').catch((cause) => Promise.reject(unavailable('zod', cause)));
}

/** `require` takes a fifth of the time of an import, which reads CommonJS with a lexer first. */
async function loadYaml(): Promise<Yaml> {
  try {
    return required((require) => require('yaml'));
  } catch {
    // In a bundle.
    return (await import('yaml')).default;
  }
}

function orUnavailable<T>(name: string, load: (require: NodeJS.Require) => T): T {
  try {
    return required(load);
  } catch (cause) {
    throw unavailable(name, cause);
  }
}

function required<T>(load: (require: NodeJS.Require) => T): T {
  return load(createRequire(import.meta.url));
}

function unavailable(name: string, cause: unknown): EthosError {
  const problem = `the package ${name} could not be loaded; install the dependencies again`;
  return new EthosError('TOOL_UNAVAILABLE', problem, { cause });
}
