import type { HostSet } from '@ethosagent/policy';
import { urlPort } from '@ethosagent/policy';
import { describeResponse } from '@ethosagent/safety-network';
import { CapabilityError, EthosError, type SecretRef } from '@ethosagent/types';
import type { AccessScope } from './access.js';
import { SecretRedactor } from './results/redact.js';
import type { Handle } from './secret-handle.js';
import { findHandles, replaceHandles } from './secret-handles-request.js';
import { scrubResponse } from './secret-handles-response.js';

export interface SecretHandlesOptions {
  /** @throws `SECRET_NOT_FOUND`, `SECRETS_UNAVAILABLE` */
  resolve: (ref: SecretRef) => Promise<string>;
  scope: AccessScope | undefined;
  /** Whether each request asks for the value again: a service lasts longer than some secrets. */
  asksAgain: boolean;
}

// Not a property of the resolver, which the tool holds: these handles can give the values.
const handlesByResolver = new WeakMap<object, SecretHandles>();

/** The handles of one call or service, and their values. */
export class SecretHandles {
  readonly #options: SecretHandlesOptions;
  readonly #handles = new Map<SecretRef, Handle>();
  readonly #values = new Map<SecretRef, Promise<string>>();
  readonly #sent = new SecretRedactor();
  #isSent = false;

  static of(resolver: object, options: SecretHandlesOptions): SecretHandles {
    const handles = handlesByResolver.get(resolver) ?? new SecretHandles(options);
    handlesByResolver.set(resolver, handles);
    return handles;
  }

  private constructor(options: SecretHandlesOptions) {
    this.#options = options;
  }

  /** The placeholder for a value, the same for every request of the call. */
  issue(ref: SecretRef, hosts: HostSet): string {
    const known = this.#handles.get(ref);
    if (known !== undefined) return known.placeholder;
    const random = crypto.getRandomValues(Buffer.alloc(16));
    const placeholder = `ethos-secret-${random.toString('hex')}`;
    this.#handles.set(ref, { ref, placeholder, hosts });
    return placeholder;
  }

  get all(): Iterable<Handle> {
    return this.#handles.values();
  }

  /** All values that were sent, to remove them from responses; `undefined` if there are none. */
  get sent(): SecretRedactor | undefined {
    return this.#isSent ? this.#sent : undefined;
  }

  /** Resolves the value. From now on it is redacted from everything that the call returns. */
  async valueOf(ref: SecretRef): Promise<string> {
    const known = this.#values.get(ref);
    if (known !== undefined) return known;
    const asked = this.#options.resolve(ref);
    if (!this.#options.asksAgain) this.#values.set(ref, asked);
    try {
      const value = await asked;
      this.#options.scope?.addSecret(ref, value);
      this.#sent.add(ref, value);
      this.#isSent = true;
      return value;
    } catch (error) {
      // A failure is not kept as a value: the next request asks again.
      this.#values.delete(ref);
      throw error;
    }
  }
}

/**
 * The handles in one request and its redirects. They are replaced at each hop, and removed from the
 * response. Even if there are none yet, a first one may be created, and sent, before the response
 * is complete.
 */
export class RequestHandles {
  readonly #resolver: object;
  #hops = 0;
  #wasSecure = false;
  #sentByHop: readonly Handle[] = [];
  #host = '';

  /** @param resolver the secrets accessor of the call */
  constructor(resolver: object) {
    this.#resolver = resolver;
  }

  get #handles(): SecretHandles | undefined {
    return handlesByResolver.get(this.#resolver);
  }

  /** Reports the secrets that the current hop sends. */
  record(scope: AccessScope): void {
    const access = { capability: 'secrets', operation: 'send', decision: 'allowed' } as const;
    for (const { ref } of this.#sentByHop) {
      scope.record({
        ...access,
        target: ref,
        reason: `bound to ${this.#host}`,
        basis: { asked: [ref] },
      });
    }
  }

  /**
   * The init of a hop, with values instead of placeholders.
   * @throws `SECRET_NOT_BOUND` before a value is asked for; `SECRET_NOT_FOUND`, `NETWORK_FAILED`
   */
  async prepare(url: URL, init: RequestInit): Promise<RequestInit> {
    const isRedirect = this.#hops > 0;
    this.#hops += 1;
    this.#sentByHop = [];
    const handles = this.#handles;
    this.#wasSecure ||= url.protocol === 'https:';
    if (handles === undefined) return init;
    for (const { ref, placeholder } of handles.all) {
      if (!url.href.includes(placeholder)) continue;
      throw notBound(
        `the handle of ${ref} is in the URL; send it in a header or a body`,
        'handle in the URL',
      );
    }
    // Attack: a server answers with the secret that it got, in the address of a redirect. The next
    // request must not carry it past the guard.
    if (isRedirect) this.#assertCarried(url, handles);
    const found = await findHandles(init, handles.all);
    for (const { ref, hosts } of found) this.#assertBound(ref, hosts, url);
    if (found.length === 0) return init;
    const values = new Map<string, string>();
    for (const { ref, placeholder } of found) {
      values.set(placeholder, await handles.valueOf(ref));
    }
    this.#sentByHop = found;
    this.#host = url.host;
    return replaceHandles(init, values);
  }

  /**
   * The response without the values that were sent, including those that other requests send before
   * it is complete.
   */
  scrub(response: Response): Response {
    // Without handles nothing was sent, so an object that is not a `Response` may pass.
    if (this.#handles === undefined && !(response instanceof Response)) return response;
    const scrubbed = scrubResponse(response, this);
    const url = this.sent?.redact(response.url) ?? response.url;
    return describeResponse(scrubbed, url, response.redirected);
  }

  /** The values that the call has sent. */
  get sent(): SecretRedactor | undefined {
    return this.#handles?.sent;
  }

  /** An error of the request without its cause, which may quote a header. */
  scrubError(error: unknown): unknown {
    if (this.sent === undefined || !(error instanceof EthosError) || error.cause === undefined) {
      return error;
    }
    Object.defineProperty(error, 'cause', { value: undefined });
    return error;
  }

  #assertCarried(url: URL, handles: SecretHandles): void {
    for (const { ref } of handles.sent?.find(url.href) ?? []) {
      for (const handle of handles.all) {
        if (handle.ref === ref) this.#assertBound(ref, handle.hosts, url);
      }
    }
  }

  #assertBound(ref: SecretRef, hosts: HostSet, url: URL): void {
    if (hosts.matches(url.hostname, urlPort(url)) === undefined) {
      throw notBound(
        `${ref} is not bound to ${url.host}; send its handle to ${hosts.patterns.join(', ')}`,
        `${ref} is not bound to the host`,
      );
    }
    if (this.#wasSecure && url.protocol === 'http:') {
      throw notBound(`${url.host} redirects ${ref} from https to http`, 'secret over http');
    }
  }
}

function notBound(detail: string, rule: string): CapabilityError {
  return new CapabilityError('SECRET_NOT_BOUND', detail, rule);
}
