import { isSecretRef, secretRefMatches } from '@ethosagent/policy';
import {
  CapabilityError,
  EthosError,
  type ScopedSecretsResolver,
  type SecretRef,
} from '@ethosagent/types';
import { type AccessScope, assertLive } from '../access.js';
import { unawaited } from '../rejections.js';

export interface ScopedSecretsOptions {
  scope?: AccessScope | undefined;
}

/** Secrets, held to the declared refs: exact ones, and prefixes that end in `/*`. */
export class ScopedSecretsImpl implements ScopedSecretsResolver {
  readonly #declared: ReadonlySet<SecretRef>;
  readonly #backend: (ref: SecretRef) => Promise<string>;
  readonly #scope: AccessScope | undefined;

  constructor(
    declaredRefs: ReadonlySet<SecretRef>,
    backend: (ref: SecretRef) => Promise<string>,
    options: ScopedSecretsOptions = {},
  ) {
    this.#declared = declaredRefs;
    this.#backend = backend;
    this.#scope = options.scope;
  }

  /** @throws `SECRET_NOT_DECLARED` before the backend is asked; `SECRET_NOT_FOUND` */
  get(ref: SecretRef): Promise<string> {
    return unawaited(this.#get(ref));
  }

  async #get(ref: SecretRef): Promise<string> {
    const access = { capability: 'secrets', operation: 'get', target: String(ref) } as const;
    if (this.#scope !== undefined) assertLive(this.#scope, access);
    const pattern = this.#declaredAs(ref);
    if (pattern === undefined) {
      const reason = isSecretRef(ref) ? 'not declared' : 'malformed ref';
      this.#scope?.record({ ...access, decision: 'denied', reason });
      throw new CapabilityError(
        'SECRET_NOT_DECLARED',
        `${ref} is not in the tool's declared secrets`,
        reason,
      );
    }
    this.#scope?.record({ ...access, decision: 'allowed', reason: `declared as ${pattern}` });
    const value = await this.#resolve(ref);
    this.#scope?.addSecret(ref, value);
    return value;
  }

  #declaredAs(ref: SecretRef): SecretRef | undefined {
    if (!isSecretRef(ref)) return undefined;
    if (this.#declared.has(ref)) return ref;
    for (const pattern of this.#declared) if (secretRefMatches(pattern, ref)) return pattern;
    return undefined;
  }

  // What a backend says of its failure may hold a path or a value: it stays in `cause`.
  async #resolve(ref: SecretRef): Promise<string> {
    let cause: unknown;
    try {
      const value: unknown = await this.#backend(ref);
      if (typeof value === 'string') return value;
    } catch (error) {
      // Written for the reader, and without a value, by what this error promises.
      if (error instanceof EthosError && error.code === 'SECRET_NOT_FOUND') throw error;
      cause = error;
    }
    throw new EthosError(
      'SECRET_NOT_FOUND',
      `the secrets backend has no value for ${ref}; ask the operator to set it`,
      { cause },
    );
  }
}
