import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { assertSecretRef, secretError } from './secret-error.js';

/** Options of `createEnvSecrets`. */
export interface EnvSecretsOptions {
  /** The environment to read, e.g. `process.env`. */
  env: Readonly<Record<string, string | undefined>>;
  /** Names of variables by ref. For any other ref, the name is derived from the ref. */
  map?: Readonly<Record<string, string>>;
}

/** Secrets from an environment. */
export interface EnvSecrets {
  /**
   * Returns the value of a secret.
   * @throws `SECRET_NOT_FOUND` if the variable is absent or empty, or the ref is malformed
   */
  get(ref: string): Promise<string>;
  /**
   * Whether the variable is set and not empty.
   * @throws `SECRET_NOT_FOUND` if the ref is malformed
   */
  has(ref: string): Promise<boolean>;
}

const OPTIONS: OptionNames<EnvSecretsOptions> = {
  env: true,
  map: true,
};

/**
 * Reads secrets from environment variables.
 *
 * Unless `map` names a variable for the ref, its name is the ref in upper case, with one `_` for
 * each run of characters that are not letters or digits: `providers/openweather/apiKey` is read
 * from `PROVIDERS_OPENWEATHER_APIKEY`. Refs that give the same name share the variable.
 *
 * @param options the environment, and names of variables by ref
 * @returns the secrets
 */
export function createEnvSecrets(options: EnvSecretsOptions): EnvSecrets {
  assertOptions('createEnvSecrets', options, OPTIONS);
  const { env, map = {} } = options;
  const lookUp = (ref: string) => {
    assertSecretRef(ref);
    const mapped = Object.hasOwn(map, ref) ? map[ref] : undefined;
    const name = mapped ?? ref.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    return { name, value: Object.hasOwn(env, name) ? env[name] : undefined };
  };
  return {
    async get(ref) {
      const { name, value } = lookUp(ref);
      if (value !== undefined && value !== '') return value;
      throw secretError(ref, `no value; set the environment variable ${name} and start again`);
    },
    async has(ref) {
      return Boolean(lookUp(ref).value);
    },
  };
}
