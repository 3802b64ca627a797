import { err } from '@ethosagent/plugin-sdk';
import type { ToolErrorCode, ToolResult } from '@ethosagent/types';
import { oneLine } from './one-line.js';
import { retryAfterSeconds } from './retry-after.js';
import type { ProviderResponse, SearchProblem, SearchProvider } from './search-provider.js';

const MAX_DETAIL_CHARS = 200;

const MEANING: Record<SearchProblem['kind'], [code: ToolErrorCode, what: string, next: string]> = {
  key: ['not_available', 'refuses its key', 'Do not try again; tell the user to check the key'],
  quota: [
    'not_available',
    'has no searches left for this key',
    'Do not try again; tell the user that the quota is used up',
  ],
  rate: ['execution_failed', 'was asked too often', 'Try once more, and ask less often'],
  request: ['input_invalid', 'does not take this search', 'Change the query or its filters'],
  setup: ['not_available', 'is not set up for this', 'Do not try again; tell the user'],
  outage: ['execution_failed', 'failed', 'Try once more later'],
};

/** Returns the result for a failed response. The text of the provider can't contain the key. */
export function searchFailure(
  provider: SearchProvider,
  response: ProviderResponse,
  now: number,
): ToolResult {
  const problem = provider.problem?.(response, now) ?? problemOf(response);
  const [code, what, next] = MEANING[problem.kind];
  const seconds =
    problem.retrySeconds ?? retryAfterSeconds(response.headers.get('retry-after'), now);
  const wait = seconds === undefined ? '' : ` It can be asked again in ${spanOf(seconds)}.`;
  const detail = oneLine(problem.detail ?? '', MAX_DETAIL_CHARS);
  const said = detail === '' ? '' : ` It says: ${detail.replace(/[.]$/, '')}.`;
  return err(`${provider.id} ${what} (HTTP ${response.status}).${said}${wait} ${next}.`, code);
}

function problemOf({ status, body }: ProviderResponse): SearchProblem {
  const detail = detailOf(body);
  if (status === 401 || status === 403) return { kind: 'key', detail };
  if (status === 402) return { kind: 'quota', detail };
  if (status === 429) return { kind: 'rate', detail };
  if (status === 400 || status === 422) return { kind: 'request', detail };
  return { kind: 'outage', detail };
}

/**
 * Finds the error text in the answer of almost any API: `error`, `message` or `detail`, up to two
 * levels deep.
 */
function detailOf(body: unknown, depth = 0): string | undefined {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null || depth > 2) return undefined;
  for (const name of ['detail', 'error', 'message']) {
    const found = detailOf(Reflect.get(body, name), depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function spanOf(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} minutes`;
  if (seconds < 172_800) return `${Math.ceil(seconds / 3_600)} hours`;
  return `${Math.ceil(seconds / 86_400)} days`;
}
