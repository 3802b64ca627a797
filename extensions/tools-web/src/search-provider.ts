import type { SecretRef } from '@ethosagent/types';

/** How recent results must be. */
export type Freshness = 'day' | 'week' | 'month' | 'year';

/** What is searched for. */
export interface SearchQuery {
  query: string;
  /** Results at most. */
  count: number;
  freshness?: Freshness;
  /** A day, `YYYY-MM-DD`: nothing older. */
  since?: string;
  /** A host whose pages alone are wanted. */
  site?: string;
  /** ISO 3166-1 alpha-2, in upper case. */
  country?: string;
  /** A language tag such as `de` or `pt-BR`. */
  lang?: string;
}

/** A page that was found. */
export interface SearchResult {
  title: string;
  url: string;
  /** May hold HTML, which the tool takes out. */
  snippet: string;
  /** As the provider says it; the tool makes ISO 8601 of it. */
  publishedAt?: string | undefined;
}

/** What a provider found. */
export interface SearchAnswer {
  results: SearchResult[];
  /** US dollars that the search cost. */
  costUsd?: number | undefined;
  /** Sentences for the model. */
  notes?: string[];
}

/** Why a provider gave no answer. */
export interface SearchProblem {
  /**
   * `key`: it is missing or refused. `quota`: nothing more until it is paid for, or a long time has
   * passed. `rate`: too many requests just now. `request`: the query can't be searched for.
   * `setup`: the operator has to change something. `outage`: it failed.
   */
  kind: 'key' | 'quota' | 'rate' | 'request' | 'setup' | 'outage';
  /** What the provider says. */
  detail?: string | undefined;
  /** Seconds after which to try again. */
  retrySeconds?: number | undefined;
}

/** A response of a provider that has been read. */
export interface ProviderResponse {
  status: number;
  headers: Headers;
  /** Parsed JSON; `undefined` for what is none. */
  body: unknown;
}

/** A search engine: what is sent to it, and what its answers mean. It does nothing by itself. */
export interface SearchProvider {
  /** What settings call it, e.g. `brave`. */
  readonly id: string;
  /** Hosts that its requests go to, with the port where it is not the scheme's own. */
  readonly hosts: readonly string[];
  /** The secret that its requests carry, bound to its hosts. */
  readonly secret?: SecretRef;
  /** Results that one request gives at most. */
  readonly maxCount: number;
  /** What of a query it can not do. */
  readonly ignores: ReadonlyArray<keyof SearchQuery>;
  /**
   * The request for a query.
   *
   * @param key stands for the secret in headers or the body; empty where there is no secret
   * @param now milliseconds since the epoch
   */
  request(query: SearchQuery, key: string, now: number): { url: string; init: RequestInit };
  /** What was found; `undefined` for a body that is not as documented. */
  answer(body: unknown): SearchAnswer | undefined;
  /** Why there is no answer, where this provider's own way of saying so tells more than the status. */
  problem?(response: ProviderResponse, now: number): SearchProblem | undefined;
}

/** Where a provider is found, if not at its public address. */
export interface SearchProviderOptions {
  /** The root of its API, e.g. that of a proxy. */
  baseUrl?: string;
  /** The ref of its key. */
  secret?: SecretRef;
}
