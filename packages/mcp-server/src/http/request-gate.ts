import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { EthosError } from '@ethosagent/types';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';

/** The answer to a request that is refused. */
export interface Refusal {
  status: number;
  message: string;
  /** The code of the JSON-RPC error. -32,000 when absent. */
  code?: number;
  /** The id of the refused request. `null` when absent. */
  id?: RequestId | null;
  headers?: Record<string, string>;
}

export interface RequestGateParts {
  /** The bearer tokens, by the names of clients. */
  tokens: ReadonlyMap<string, string>;
  /** The allowed values of `Host`, in lower case. */
  hosts: ReadonlySet<string>;
  /** The allowed values of `Origin`. */
  origins: ReadonlySet<string>;
}

const MIN_TOKEN_CHARS = 32;
// RFC 6750, section 2.1.
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Decides which client sent a request. The attack: a page in a browser reaches the server through a
 * name of its own.
 */
export class RequestGate {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #digests: readonly (readonly [client: string, digest: Buffer])[];

  /** @throws `CONFIG_INVALID` for a token that is too short, or that two clients share */
  constructor({ tokens, hosts, origins }: RequestGateParts) {
    this.#hosts = hosts;
    this.#origins = origins;
    for (const [client, token] of tokens) assertToken(client, token);
    if (new Set(tokens.values()).size < tokens.size) {
      throw new EthosError('CONFIG_INVALID', 'two clients have one token; give each its own');
    }
    if (tokens.size === 0) {
      throw new EthosError('CONFIG_INVALID', '`clients` is empty; nobody could connect');
    }
    this.#digests = [...tokens].map(([client, token]) => [client, digestOf(token)] as const);
  }

  check({ host, origin, authorization }: IncomingHttpHeaders): { client: string } | Refusal {
    if (host === undefined || !this.#hosts.has(host.toLowerCase())) {
      return { status: 403, message: 'the Host header is not one of this server' };
    }
    if (origin !== undefined && !this.#origins.has(origin)) {
      return { status: 403, message: 'pages of this origin may not connect' };
    }
    const client = this.#clientOf(authorization ?? '');
    if (client !== undefined) return { client };
    return {
      status: 401,
      message: 'a bearer token of this server is required',
      headers: { 'WWW-Authenticate': 'Bearer' },
    };
  }

  /** Takes the same time for every token: all tokens are compared, by digests of equal length. */
  #clientOf(authorization: string): string | undefined {
    const given = digestOf(/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '');
    let found: string | undefined;
    for (const [client, digest] of this.#digests) {
      if (timingSafeEqual(digest, given)) found = client;
    }
    return found;
  }
}

function assertToken(client: string, token: unknown): void {
  if (typeof token === 'string' && token.length >= MIN_TOKEN_CHARS && TOKEN.test(token)) return;
  throw new EthosError(
    'CONFIG_INVALID',
    `the token of ${JSON.stringify(client)} must have ${MIN_TOKEN_CHARS} characters or more, of letters, digits and -._~+/; make one with \`openssl rand -hex 32\``,
  );
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
