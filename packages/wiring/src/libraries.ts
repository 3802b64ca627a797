import { createRequire } from 'node:module';
import { EthosError } from '@ethosagent/types';

type Yaml = typeof import('yaml');
type Zod = typeof import('zod');

let loadedYaml: Yaml | undefined;
let loadedZod: Zod | undefined;

/**
 * The YAML library, loaded at the first use. It is CommonJS, so `import` gives the same module.
 *
 * @throws `TOOL_UNAVAILABLE` when it can't be loaded
 */
export function yaml(): Yaml {
  loadedYaml ??= orUnavailable('yaml', (require): Yaml => require('yaml'));
  return loadedYaml;
}

/**
 * Zod, loaded at the first use. Where `loadZod` was called before, it is the module that tools
 * import. Otherwise it is a copy of its own in CommonJS, since the caller does not wait.
 *
 * @throws `TOOL_UNAVAILABLE` when it can't be loaded
 */
export function zod(): Zod {
  loadedZod ??= orUnavailable('zod', (require): Zod => require('zod'));
  return loadedZod;
}

/** Loads Zod for `zod()`, so that no second copy is needed. */
export async function loadZod(): Promise<void> {
  loadedZod ??= await import('zod');
}

function orUnavailable<T>(name: string, load: (require: NodeJS.Require) => T): T {
  try {
    return load(createRequire(import.meta.url));
  } catch (cause) {
    const problem = `the package ${name} could not be loaded; install the dependencies again`;
    throw new EthosError('TOOL_UNAVAILABLE', problem, { cause });
  }
}
