import { assertSecretRef, secretError } from './secret-error.js';

/** Options of `createEnvSecrets`. */
export interface EnvSecretsOptions {
  /** The environment to read, e.g. `process.env`. */
  env: Readonly<Record<string, string | undefined>>;
  /** Names of variables by ref. A ref that isn't listed follows the rule. */
  map?: Readonly<Record<string, string>>;
}

/** Secrets from an environment. */
export interface EnvSecrets {
  /** @throws `SECRET_NOT_FOUND` when the variable is absent or empty */
  get(ref: string): Promise<string>;
  /** Whether the variable is set. */
  has(ref: string): Promise<boolean>;
}

/**
 * Secrets from environment variables.
 *
 * Unless `map` says otherwise, the variable is the ref in upper case, each run of other
 * characters than letters and digits as one `_`: `providers/openweather/apiKey` is read from
 * `PROVIDERS_OPENWEATHER_APIKEY`. Refs that come to the same name share the variable.
 *
 * @param options the environment, and names of variables by ref
 * @returns the secrets; `get` throws `SECRET_NOT_FOUND` for a variable that is not set
 */
export function createEnvSecrets({ env, map = {} }: EnvSecretsOptions): EnvSecrets {
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
