import { EthosError } from '@ethosagent/types';

/** A request to the model that gave no answer. */
export class ModelFailure extends Error {
  override name = 'ModelFailure';
  /** Whether another attempt may succeed. */
  readonly isRetryable: boolean;
  /** How many milliseconds the provider asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    detail: string,
    options: { isRetryable: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(detail, { cause: options.cause });
    this.isRetryable = options.isRetryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Mistakes in the request, in the configuration or in a program. The same request would fail again.
 */
const FINAL: ReadonlySet<string> = new Set([
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_InvalidMessageRoleError',
  'AI_MessageConversionError',
  'AI_MissingToolResultsError',
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
  'AI_NoSuchProviderError',
  'AI_UnsupportedFunctionalityError',
  'AI_UnsupportedModelVersionError',
]);

const RETRYABLE_STATUS: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** Turns an error of the AI SDK, a provider or the network into a failure. */
export function modelFailure(error: unknown, now: () => number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const { name, message, statusCode, isRetryable, responseHeaders, cause }: ErrorFacts =
    Object(error);
  const status = typeof statusCode === 'number' ? statusCode : undefined;
  const text = typeof message === 'string' ? message : describe(error);
  const detail = redact(status === undefined ? text : `HTTP ${status}: ${text}`);
  // This wrapper hides its cause, such as a broken connection, so the cause is used.
  if (isObject(cause) && typeof name === 'string' && name === 'AI_RetryError') {
    return modelFailure(cause, now);
  }
  return new ModelFailure(detail, {
    isRetryable: isWorthARetry({ name, status, isRetryable }),
    retryAfterMs: retryAfter(responseHeaders, now),
    cause: error,
  });
}

interface ErrorFacts {
  name?: unknown;
  message?: unknown;
  statusCode?: unknown;
  isRetryable?: unknown;
  responseHeaders?: unknown;
  cause?: unknown;
}

function isWorthARetry(facts: {
  name: unknown;
  status: number | undefined;
  isRetryable: unknown;
}): boolean {
  const { name, status, isRetryable } = facts;
  if (typeof name === 'string' && FINAL.has(name)) return false;
  if (isRetryable === true) return true;
  // An answer that can't be read has the status of a success.
  if (status !== undefined) return status < 400 || status >= 500 || RETRYABLE_STATUS.has(status);
  return true;
}

/** In milliseconds, from `Retry-After-Ms`, or from `Retry-After` in seconds or as a date. */
function retryAfter(headers: unknown, now: () => number): number | undefined {
  if (!isObject(headers)) return undefined;
  const value = (name: string): string | undefined => {
    const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
    return typeof found === 'string' && found.trim() !== '' ? found.trim() : undefined;
  };
  const ms = Number(value('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = value('retry-after');
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (seconds >= 0) return seconds * 1_000;
  // A plain number would be parsed as a year.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

const MAX_DETAIL_CHARS = 500;

/** Removes what looks like a credential. Providers quote keys, and hosts put keys into URLs. */
function redact(text: string): string {
  return text
    .slice(0, 10_000)
    .replaceAll(/\b(bearer|basic)\s+\S+/gi, '$1 [redacted]')
    .replaceAll(/([?&][\w-]*(?:key|token|secret|signature)[\w-]*=)[^&\s]+/gi, '$1[redacted]')
    .replaceAll(/\b[a-z]{2,6}[-_][\w*.-]{8,}/gi, (word) =>
      /[\d*]/.test(word) ? '[redacted]' : word,
    )
    .replaceAll(/[\w+/=-]{32,}/g, '[redacted]')
    .slice(0, MAX_DETAIL_CHARS)
    .toWellFormed();
}

/** The error of a turn whose model failed. */
export function modelError(failure: ModelFailure, attempts: number): EthosError {
  const times = attempts > 1 ? `, ${attempts} times` : '';
  return new EthosError(
    'MODEL_FAILED',
    `the model call failed${times} (${failure.message}); resume the turn to ask again`,
    { cause: failure.cause ?? failure },
  );
}

/** Whether an error of `modelError` says that the provider refused the request as it is. */
export function isRefusal(error: unknown): boolean {
  const { cause }: { cause?: ErrorFacts } = Object(error);
  return cause?.statusCode === 400;
}

function describe(error: unknown): string {
  if (typeof error === 'string') return error;
  try {
    return JSON.stringify(error) ?? String(error);
  } catch {
    return 'an error that can not be read';
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
