import type { SecretRef } from '@ethosagent/types';

/** How recent results must be. */
export type Freshness = 'day' | 'week' | 'month' | 'year';

/** A search, and the filters of its results. */
export interface SearchQuery {
  query: string;
  /** How many results to return at most. */
  count: number;
  freshness?: Freshness;
  /** Only pages since this day, `YYYY-MM-DD`. */
  since?: string;
  /** Only pages of this host. */
  site?: string;
  /** The country to search from: ISO 3166-1 alpha-2, in upper case. */
  country?: string;
  /** The language of the pages: a language tag such as `de` or `pt-BR`. */
  lang?: string;
}

/** A page that the provider found. */
export interface SearchResult {
  title: string;
  url: string;
  /** An excerpt of the page. It may have HTML, which the tool removes. */
  snippet: string;
  /** The date of the page in the provider's form. The tool converts it to ISO 8601. */
  publishedAt?: string | undefined;
}

/** The answer of a provider. */
export interface SearchAnswer {
  results: SearchResult[];
  /** The cost of the search in US dollars. */
  costUsd?: number | undefined;
  /** Sentences that the model sees beside the results. */
  notes?: string[];
}

/** Why a provider gave no answer. */
export interface SearchProblem {
  /**
   * `key`: the key is missing or refused. `quota`: the searches are used up, until somebody pays or
   * a long time has passed. `rate`: too many requests at the moment. `request`: the provider
   * refuses the query. `setup`: the operator has to change something. `outage`: the provider
   * failed.
   */
  kind: 'key' | 'quota' | 'rate' | 'request' | 'setup' | 'outage';
  /** The error text of the provider. */
  detail?: string | undefined;
  /** How many seconds to wait before the next try. */
  retrySeconds?: number | undefined;
}

/** The response of a provider, with its parsed body. */
export interface ProviderResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON; `undefined` when the body is not JSON. */
  body: unknown;
}

/**
 * Describes a search engine: how to ask it, and how to read its answers. It sends nothing itself.
 */
export interface SearchProvider {
  /** The name of the provider in settings, e.g. `brave`. */
  readonly id: string;
  /**
   * The hosts that its requests go to, with the port if it is not the default one of the scheme.
   */
  readonly hosts: readonly string[];
  /** The ref of the secret that its requests carry. The secret is bound to `hosts`. */
  readonly secret?: SecretRef;
  /** How many results one request returns at most. */
  readonly maxCount: number;
  /**
   * The fields of a query that the provider does not support. The tool tells the model when one was
   * set.
   */
  readonly ignores: ReadonlyArray<keyof SearchQuery>;
  /**
   * Builds the request for a query.
   *
   * @param query the search; `count` is at most `maxCount`
   * @param key a placeholder for the secret, to put into a header or the body; empty when there is
   *   no secret
   * @param now milliseconds since the epoch
   * @returns the absolute URL, and the options for `fetch`
   */
  request(query: SearchQuery, key: string, now: number): { url: string; init: RequestInit };
  /**
   * Reads the results from the body of an answer with status 200.
   *
   * @param body parsed JSON
   * @returns the results; `undefined` when the body does not have the documented form
   */
  answer(body: unknown): SearchAnswer | undefined;
  /**
   * Explains a response whose status is not 200, when the provider tells more than the status does.
   *
   * @param response the status, the headers and the parsed body
   * @param now milliseconds since the epoch
   * @returns the problem; `undefined` to judge by the status alone
   */
  problem?(response: ProviderResponse, now: number): SearchProblem | undefined;
}

/** How to reach a provider, if not in the default way. */
export interface SearchProviderOptions {
  /** The URL of the root of its API, e.g. that of a proxy. The public one when absent. */
  baseUrl?: string;
  /** The ref of its key. `providers/<id>/apiKey` when absent. */
  secret?: SecretRef;
}
