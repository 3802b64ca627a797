import { EthosError, errorCodeOf } from '@ethosagent/types';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import type { McpRemoteServer } from './config.js';
import { messageOf } from './connection-failure.js';
import { declarationOf } from './declaration.js';
import { guardedFetch } from './guarded-fetch.js';
import { StoredOAuth } from './oauth.js';
import { Variables } from './resolve-variables.js';
import type { ConnectOptions } from './server-session.js';
import { unaskedChars } from './token-bucket.js';

/** The server and the personality of an authorization. */
interface AuthorizedServer {
  server: McpRemoteServer;
  personality: string | undefined;
  url: string;
  variables: Variables;
}

/**
 * Creates the OAuth client of a server; `undefined` when the host or the server's headers exclude
 * OAuth.
 */
export async function createOAuth(
  { server, personality, url, variables }: AuthorizedServer,
  { tokens, redirectUrl, onAuthorize }: ConnectOptions,
): Promise<StoredOAuth | undefined> {
  if (tokens === undefined || redirectUrl === undefined || onAuthorize === undefined)
    return undefined;
  const named = [...server.headers.keys()].map((name) => name.toLowerCase());
  if (named.includes('authorization')) return undefined;
  const { clientId, clientSecret, scope } = server.oauth;
  const id = clientId && (await variables.text(clientId));
  const secret = clientSecret && (await variables.text(clientSecret));
  return new StoredOAuth({
    store: tokens,
    server: server.name,
    personality,
    url,
    redirectUrl,
    authorize: onAuthorize,
    hosts: server.oauth.hosts,
    ...(id === undefined ? {} : { client: { id, ...(secret === undefined ? {} : { secret }) } }),
    ...(scope === undefined ? {} : { scope }),
  });
}

/**
 * Exchanges the code of an authorization for tokens, and stores them.
 *
 * @throws `CONFIG_INVALID` when no authorization waits, or when the state does not match;
 *   `HOST_NOT_ALLOWED`, `NETWORK_FAILED`
 */
export async function finishAuthorization(
  { server, personality }: Pick<AuthorizedServer, 'server' | 'personality'>,
  answer: { code: string; state?: string },
  options: ConnectOptions,
): Promise<void> {
  const declared = declarationOf(server, options.variables);
  if (!declared.ok) throw new EthosError('CONFIG_INVALID', `${server.name}: ${declared.reason}`);
  const scope = await options.host.openService(
    declared.declaration,
    personality === undefined ? {} : { personalityId: personality },
  );
  let provider: StoredOAuth | undefined;
  try {
    const variables = new Variables(server.name, scope, options);
    const url = await variables.text(server.url);
    provider = await createOAuth({ server, personality, url, variables }, options);
    const { scopedFetch } = scope;
    if (provider === undefined || scopedFetch === undefined) {
      throw new EthosError('CONFIG_INVALID', `${server.name} is not authorized by this host`);
    }
    await provider.codeVerifier();
    await provider.assertState(answer.state ?? '');
    const { maxMessageChars, messagesPerSecond } = options.limits;
    const fetchFn = guardedFetch({
      scopedFetch,
      origin: new URL(url).origin,
      headers: new Map(),
      maxMessageChars,
      messagesPerSecond,
      unasked: unaskedChars(),
      signal: scope.signal,
      settled: () => scope.signal,
      onBroken: () => {},
      onAbuse: () => {},
      onFailed: () => {},
    });
    await auth(provider, { serverUrl: url, authorizationCode: answer.code, fetchFn });
  } catch (error) {
    if (errorCodeOf(error) !== undefined) throw error;
    // The error is not set as the cause: its text may contain the code that was sent.
    const said = messageOf(error, (text) => {
      const redacted = scope.redact(provider?.redact(text) ?? text);
      return redacted.replaceAll(answer.code, '[the code]');
    });
    throw new EthosError('NETWORK_FAILED', `${server.name} gave no tokens: ${said}`);
  } finally {
    await scope.end();
  }
}
