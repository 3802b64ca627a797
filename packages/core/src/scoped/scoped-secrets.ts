import { isSecretRef, secretRefMatches, unawaited } from '@ethosagent/policy';
import {
  CapabilityError,
  type ErrorCode,
  EthosError,
  type ScopedSecretsResolver,
  type SecretRef,
} from '@ethosagent/types';
import { type AccessScope, assertLive, textOf } from '../access.js';
import type { SecretBindings } from '../capabilities/secret-bindings.js';
import { SecretHandles } from '../secret-handles.js';

const SAID_BY_BACKENDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SECRET_NOT_FOUND',
  'SECRETS_UNAVAILABLE',
]);

export interface ScopedSecretsOptions {
  scope?: AccessScope | undefined;
  /** Which secrets may be read, and where the others may be sent. Without it, none may be sent. */
  bindings?: SecretBindings | undefined;
  /** A ref must match one of these, besides its declaration. */
  within?: readonly SecretRef[] | undefined;
  /** The hosts that the call may reach. */
  hosts?: ReadonlySet<string> | undefined;
  /**
   * Gives the secret that the personality uses for a declared ref; `undefined` for none. Without
   * this, the ref itself is used.
   */
  sourceOf?: ((ref: SecretRef) => SecretRef | undefined) | undefined;
  /** Whether they are the secrets of a service, which outlives calls. */
  isService?: boolean | undefined;
}

/** Secrets that are limited to the declared refs: exact ones, and prefixes that end in `/*`. */
export class ScopedSecretsImpl implements ScopedSecretsResolver {
  readonly #declared: ReadonlySet<SecretRef>;
  readonly #backend: (ref: SecretRef) => Promise<string>;
  readonly #options: ScopedSecretsOptions;

  /**
   * The secrets of one call.
   *
   * @param declaredRefs refs and patterns that the tool declared
   * @param backend gives the value of a ref
   * @param options handles bound to hosts, and the scope of the call
   */
  constructor(
    declaredRefs: ReadonlySet<SecretRef>,
    backend: (ref: SecretRef) => Promise<string>,
    options: ScopedSecretsOptions = {},
  ) {
    this.#declared = declaredRefs;
    this.#backend = backend;
    this.#options = options;
  }

  /**
   * The value of a secret that is declared without hosts.
   * @throws `SECRET_NOT_DECLARED`, `SECRET_NOT_BOUND` before the backend is asked;
   * `SECRET_NOT_FOUND`, `SECRETS_UNAVAILABLE`; `CONFIG_INVALID` if the personality names another
   * secret that does not exist
   */
  get(ref: SecretRef): Promise<string> {
    return unawaited(this.#get(ref));
  }

  /**
   * A placeholder for the value, for a header or a body of a request to a host that the secret is
   * bound to.
   * @throws `SECRET_NOT_DECLARED`, `SECRET_NOT_BOUND`
   */
  handle(ref: SecretRef): Promise<string> {
    return unawaited(this.#handle(ref));
  }

  async #get(ref: SecretRef): Promise<string> {
    const { scope, bindings } = this.#options;
    const pattern = this.#assertDeclared('get', ref);
    if (bindings?.isReadable(ref) === false) {
      throw this.#denied('get', ref, {
        code: 'SECRET_NOT_BOUND',
        detail: `${ref} is declared with hosts, so that its value is for them alone; use handle(), or declare the ref without hosts`,
        reason: 'bound to hosts',
      });
    }
    this.#allow('get', ref, pattern);
    const value = await this.#resolve(ref);
    scope?.addSecret(ref, value);
    return value;
  }

  async #handle(ref: SecretRef): Promise<string> {
    const { scope, bindings, hosts: reach = [] } = this.#options;
    const pattern = this.#assertDeclared('handle', ref);
    const hosts = bindings?.hostsOf(ref, reach);
    if (hosts === undefined || hosts.patterns.length === 0) {
      const bound = bindings?.boundTo(ref) ?? [];
      throw this.#denied('handle', ref, {
        code: 'SECRET_NOT_BOUND',
        detail:
          bound.length === 0
            ? `${ref} is bound to no host; declare it with the hosts that it is for`
            : `${ref} is bound to ${bound.join(', ')}, and this call may reach none of it; a host must be in the tool's network.allowedHosts and in the personality's safety.network.allow`,
        reason: 'bound to no host',
      });
    }
    this.#allow('handle', ref, pattern);
    const handles = SecretHandles.of(this, {
      resolve: (one) => this.#resolve(one),
      scope,
      asksAgain: this.#options.isService === true,
    });
    return handles.issue(ref, hosts);
  }

  /** @returns the declaration that covers the ref */
  #assertDeclared(operation: string, ref: SecretRef): SecretRef {
    const { scope } = this.#options;
    if (scope) assertLive(scope, { capability: 'secrets', operation, target: textOf(ref) });
    const pattern = this.#declaredAs(ref);
    const { within } = this.#options;
    if (pattern !== undefined && within?.some((one) => secretRefMatches(one, ref)) === false) {
      throw this.#denied(operation, ref, {
        code: 'SECRET_NOT_DECLARED',
        detail: `${ref} is outside the secrets that the agent's program set for this one call; it decides anew for each call`,
        reason: 'not in the secrets of this call',
      });
    }
    if (pattern !== undefined && this.#sourceOf(ref) === undefined) {
      throw this.#denied(operation, ref, notOfPersonality(ref));
    }
    if (pattern !== undefined) return pattern;
    throw this.#denied(operation, ref, {
      code: 'SECRET_NOT_DECLARED',
      detail: isSecretRef(ref)
        ? `${textOf(ref)} is not in the tool's declared secrets`
        : `${textOf(ref)} is not in the tool's declared secrets, and can not be: a ref has segments of letters, digits and _.@:+- between slashes`,
      reason: isSecretRef(ref) ? 'not declared' : 'malformed ref',
    });
  }

  #sourceOf(ref: SecretRef): SecretRef | undefined {
    const options = this.#options;
    return options.sourceOf === undefined ? ref : options.sourceOf(ref);
  }

  #declaredAs(ref: SecretRef): SecretRef | undefined {
    if (!isSecretRef(ref)) return undefined;
    if (this.#declared.has(ref)) return ref;
    for (const pattern of this.#declared) if (secretRefMatches(pattern, ref)) return pattern;
    return undefined;
  }

  #allow(operation: string, ref: SecretRef, pattern: SecretRef): void {
    const source = this.#sourceOf(ref);
    this.#options.scope?.record({
      capability: 'secrets',
      operation,
      target: ref,
      decision: 'allowed',
      reason: `declared as ${pattern}${source === ref ? '' : `, with the value of ${source}`}`,
      basis: { covers: pattern },
    });
  }

  /** Records a denial, and returns its error. */
  #denied(operation: string, ref: SecretRef, { code, detail, reason }: Denial): CapabilityError {
    const access = { capability: 'secrets', operation, target: textOf(ref) } as const;
    const covers = this.#declaredAs(ref);
    const basis = covers === undefined ? undefined : { covers };
    this.#options.scope?.record({ ...access, decision: 'denied', reason, basis });
    return new CapabilityError(code, detail, reason);
  }

  // The text of a backend's error may hold a path or a value, so it only stays in `cause`.
  async #resolve(ref: SecretRef): Promise<string> {
    const source = this.#sourceOf(ref);
    // The operator may have taken it away after its handle was given.
    if (source === undefined) throw this.#denied('send', ref, notOfPersonality(ref));
    try {
      const value: unknown = await this.#backend(source);
      if (typeof value === 'string') return value;
    } catch (error) {
      // Errors with these codes promise a text for the reader, without a value.
      if (error instanceof EthosError && SAID_BY_BACKENDS.has(error.code)) {
        throw error.code === 'SECRET_NOT_FOUND' ? missing(ref, source, error) : error;
      }
      throw new EthosError(
        'SECRETS_UNAVAILABLE',
        `the secrets backend failed when it was asked for ${source}; try again, and ask the operator to look at it if it fails again`,
        { cause: error },
      );
    }
    throw missing(ref, source);
  }
}

interface Denial {
  code: 'SECRET_NOT_DECLARED' | 'SECRET_NOT_BOUND';
  detail: string;
  reason: string;
}

function notOfPersonality(ref: SecretRef): Denial {
  return {
    code: 'SECRET_NOT_DECLARED',
    detail: `${ref} is not among the secrets that safety.secrets gives this personality; the operator can add it there`,
    reason: 'no secret of this personality',
  };
}

function missing(ref: SecretRef, source: SecretRef, said?: EthosError): EthosError {
  if (source === ref) {
    return (
      said ??
      new EthosError(
        'SECRET_NOT_FOUND',
        `the secrets backend has no value for ${ref}; ask the operator to set it`,
      )
    );
  }
  // A tool may work without a secret. But a secret that the personality names must exist.
  return new EthosError(
    'CONFIG_INVALID',
    `safety.secrets of this personality gives ${ref} the value of ${source}, which has none; ask the operator to set ${source}, or to change safety.secrets`,
    { cause: said },
  );
}
