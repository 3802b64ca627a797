import { EthosError, errorCodeOf, type ServiceHost, type ServiceScope } from '@ethosagent/types';
import { auth, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { cleanText, shorten } from './clean-text.js';
import { createClient, type McpElicitation, type McpSampling } from './client.js';
import type { McpProcessServer, McpRemoteServer, McpServerConfig } from './config.js';
import { declarationOf } from './declaration.js';
import { guardedFetch } from './guarded-fetch.js';
import type { McpLimits } from './limits.js';
import { type McpAuthorize, type McpTokenStore, StoredOAuth } from './oauth.js';
import { ProcessTransport } from './process-transport.js';
import { RedactedTransport } from './redacted-transport.js';
import { Variables } from './resolve-variables.js';
import { secretsOf } from './templates.js';

/** What servers are connected with. */
export interface LinkOptions {
  host: ServiceHost;
  limits: McpLimits;
  variables: ReadonlyMap<string, string>;
  inputs: ReadonlyMap<string, string>;
  workingDir: string | undefined;
  tokens: McpTokenStore | undefined;
  redirectUrl: string | undefined;
  onAuthorize: McpAuthorize | undefined;
  onSampling: McpSampling | undefined;
  onElicitation: McpElicitation | undefined;
}

/** A server that has answered `initialize`. */
export interface Link {
  client: Client;
  scope: ServiceScope;
  /** Why it ended, and what it said last. */
  why(): string;
  /** Takes what the server was given out of a text that may be the server's. */
  redact(text: string): string;
  /** Whether the server gave a session, which it may forget. */
  hasSession(): boolean;
  close(): Promise<void>;
}

/** A link, or why there is none; `again` when a later start may work without anyone's doing. */
export type LinkResult =
  | { ok: true; link: Link }
  | {
      ok: false;
      reason: string;
      again: boolean;
      /** The user was asked to authorize it; asking again would undo that. */
      authorize?: boolean;
    };

/** A way to talk to a server. */
interface Wire extends Pick<Link, 'why' | 'redact' | 'hasSession' | 'close'> {
  transport: RedactedTransport;
  /** What was refused to the server on the way, where a library told it in its own words. */
  denied(): unknown;
}

/** Opens the service of a server, and connects to it. */
export async function connectServer(
  server: McpServerConfig,
  personality: string | undefined,
  options: LinkOptions & { closing: AbortSignal },
): Promise<LinkResult> {
  const declared = declarationOf(server, options.variables);
  if (!declared.ok) return { ...declared, again: false };
  let scope: ServiceScope | undefined;
  try {
    const owner = {
      ...(personality === undefined ? {} : { personalityId: personality }),
      ...(options.workingDir === undefined ? {} : { workingDir: options.workingDir }),
    };
    const { name, capabilities } = declared.declaration;
    scope = await options.host.openService(declared.declaration, owner);
    if (server.kind === 'process' && server.cwd === undefined && rootsOf(scope).length === 0) {
      // Where nothing is in reach, no working directory would be, and the program could not start.
      await scope.end();
      const { fs_reach: _, ...others } = capabilities;
      scope = await options.host.openService({ name, capabilities: others }, owner);
    }
    const connected = await connectIn(scope, server, personality, options);
    if (!connected.ok) await scope.end();
    return connected;
  } catch (error) {
    const reason = reasonOf(error, (text) => scope?.redact(text) ?? text);
    await scope?.end();
    return { ok: false, ...reason };
  }
}

async function connectIn(
  scope: ServiceScope,
  server: McpServerConfig,
  personality: string | undefined,
  options: LinkOptions & { closing: AbortSignal },
): Promise<LinkResult> {
  const variables = new Variables(server.name, scope, options.variables, options.inputs);
  const wires =
    server.kind === 'process'
      ? [await processWire(scope, server, variables, options)]
      : await remoteWires(scope, server, personality, variables, options);
  if (variables.missing.length > 0) {
    return { ok: false, reason: `it needs ${variables.missing.join('; ')}`, again: false };
  }
  let failure = { reason: 'there is no way to reach it', again: false };
  for (const open of wires) {
    const wire = open();
    const client = createClient({
      server: server.name,
      personality,
      roots: scope.reach === undefined ? undefined : () => rootsOf(scope),
      onSampling: options.onSampling,
      onElicitation: options.onElicitation,
    });
    try {
      const connecting = client.connect(wire.transport, { timeout: 2 ** 31 - 1 });
      await withDeadline(connecting, options.limits, options.closing);
      const close = async () => {
        await wire.close();
        await scope.end();
      };
      const { why, redact, hasSession } = wire;
      return { ok: true, link: { client, scope, why, redact, hasSession, close } };
    } catch (error) {
      const said = wire.why();
      await wire.close();
      failure = reasonOf(
        said === '' ? error : new EthosError('NETWORK_FAILED', said, { cause: error }),
        wire.redact,
        wire.denied(),
      );
      if (!isOldServer(error)) break;
    }
  }
  return { ok: false, ...failure };
}

/** The folders that a server is told of. */
export function rootsOf({ reach }: ServiceScope): string[] {
  return [...new Set([...(reach?.read ?? []), ...(reach?.write ?? [])])];
}

async function processWire(
  scope: ServiceScope,
  server: McpProcessServer,
  variables: Variables,
  { limits }: LinkOptions,
): Promise<() => Wire> {
  const [command, args, env] = [
    await variables.text(server.command),
    await Promise.all(server.args.map((arg) => variables.text(arg))),
    await variables.texts(server.env),
  ];
  const cwd = server.cwd === undefined ? undefined : await variables.text(server.cwd);
  const secret = secretsOf([...server.args, ...server.env.values()]).length > 0;
  return () => {
    const transport = new ProcessTransport((onOutput) => {
      const { scopedProcess } = scope;
      if (scopedProcess === undefined) {
        throw new EthosError('SPAWN_FAILED', 'the host runs no processes');
      }
      return scopedProcess.open(command, args, {
        env: Object.fromEntries(env),
        onOutput,
        ...(cwd === undefined ? {} : { cwd }),
      });
    }, limits);
    return {
      transport: new RedactedTransport(
        transport,
        secret ? (text) => scope.redact(text) : undefined,
      ),
      why: () => {
        const said = lastWords(scope.redact(transport.stderr));
        const ended = transport.ended ?? '';
        return said === '' || ended === '' ? ended : `${ended}; its last words: ${said}`;
      },
      redact: (text) => scope.redact(text),
      hasSession: () => false,
      denied: () => undefined,
      close: () => transport.close(),
    };
  };
}

/** What a program said before it ended, without the steps of a stack. */
function lastWords(said: string): string {
  const lines = said.split('\n').filter((line) => !/^\s*at /.test(line));
  return lines.join('\n').trim().slice(-500);
}

async function remoteWires(
  scope: ServiceScope,
  server: McpRemoteServer,
  personality: string | undefined,
  variables: Variables,
  options: LinkOptions,
): Promise<(() => Wire)[]> {
  const text = await variables.text(server.url);
  const headers = await variables.headers(server.headers);
  const authProvider = await createOAuth(server, personality, text, variables, options);
  if (variables.missing.length > 0) return [];
  const url = new URL(text);
  const { scopedFetch } = scope;
  if (scopedFetch === undefined) throw new EthosError('NETWORK_FAILED', 'the host has no network');
  const { maxMessageChars, messagesPerSecond } = options.limits;
  const secret =
    authProvider !== undefined || secretsOf([server.url, ...server.headers.values()]).length > 0;
  const open = (kind: 'http' | 'sse') => (): Wire => {
    const ending = new AbortController();
    let lost = '';
    let denied: unknown;
    const redact = (said: string) => scope.redact(authProvider?.redact(said) ?? said);
    const fetch = guardedFetch({
      scopedFetch,
      origin: url.origin,
      headers,
      maxMessageChars,
      messagesPerSecond,
      signal: ending.signal,
      onBroken: (id) => transport.breakOff(id),
      onAbuse: (why) => {
        lost = why;
        ending.abort();
        void inner.close();
      },
      onFailed: (error) => {
        if (LASTING.includes(errorCodeOf(error))) denied = error;
      },
    });
    const settings = { fetch, ...(authProvider === undefined ? {} : { authProvider }) };
    const http = kind === 'http' ? new StreamableHTTPClientTransport(url, settings) : undefined;
    const inner = http ?? new SSEClientTransport(url, settings);
    const transport = new RedactedTransport(inner, secret ? redact : undefined);
    return {
      transport,
      why: () => lost,
      redact,
      hasSession: () => http?.sessionId !== undefined,
      denied: () => denied,
      close: async () => {
        // Told so, a server forgets the session; it is given a moment to hear it.
        if (http?.sessionId !== undefined) {
          await withDeadline(http.terminateSession(), { connectTimeoutMs: 1_000 }).catch(() => {});
        }
        ending.abort();
        await inner.close();
      },
    };
  };
  return server.transport === 'sse' ? [open('sse')] : [open('http'), open('sse')];
}

async function createOAuth(
  server: McpRemoteServer,
  personality: string | undefined,
  url: string,
  variables: Variables,
  { tokens, redirectUrl, onAuthorize }: LinkOptions,
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
 * Turns the code of an authorization into tokens, and keeps them.
 *
 * @throws `CONFIG_INVALID` where no authorization waits, or the state is another one;
 * `HOST_NOT_ALLOWED`, `NETWORK_FAILED`
 */
export async function finishOAuth(
  server: McpRemoteServer,
  personality: string | undefined,
  answer: { code: string; state?: string },
  options: LinkOptions,
): Promise<void> {
  const declared = declarationOf(server, options.variables);
  if (!declared.ok) throw new EthosError('CONFIG_INVALID', `${server.name}: ${declared.reason}`);
  const scope = await options.host.openService(
    declared.declaration,
    personality === undefined ? {} : { personalityId: personality },
  );
  let provider: StoredOAuth | undefined;
  try {
    const variables = new Variables(server.name, scope, options.variables, options.inputs);
    const url = await variables.text(server.url);
    provider = await createOAuth(server, personality, url, variables, options);
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
      signal: scope.signal,
      onBroken: () => {},
      onAbuse: () => {},
      onFailed: () => {},
    });
    await auth(provider, { serverUrl: url, authorizationCode: answer.code, fetchFn });
  } catch (error) {
    if (errorCodeOf(error) !== undefined) throw error;
    // Without the error as its cause, whose text may hold what was sent.
    const said = messageOf(error, (text) => {
      const redacted = scope.redact(provider?.redact(text) ?? text);
      return redacted.replaceAll(answer.code, '[the code]');
    });
    throw new EthosError('NETWORK_FAILED', `${server.name} gave no tokens: ${said}`);
  } finally {
    await scope.end();
  }
}

/** Whether a server may speak the older transport: what the specification says of it. */
function isOldServer(error: unknown): boolean {
  return error instanceof StreamableHTTPError && [400, 404, 405].includes(error.code ?? 0);
}

export const UNAUTHORIZED = 'it waits until the user has authorized it';

const LASTING: readonly unknown[] = [
  'HOST_NOT_ALLOWED',
  'BINARY_NOT_ALLOWED',
  'PATH_NOT_REACHABLE',
  'SANDBOX_UNAVAILABLE',
  'SECRET_NOT_DECLARED',
  'SECRET_NOT_BOUND',
  'SECRET_NOT_FOUND',
  'TOOL_INVALID',
  'CONFIG_INVALID',
  'SPAWN_FAILED',
];

function reasonOf(
  error: unknown,
  redact: (text: string) => string,
  denied?: unknown,
): { reason: string; again: boolean; authorize?: boolean } {
  if (error instanceof UnauthorizedError) {
    return {
      reason: UNAUTHORIZED,
      again: false,
      authorize: true,
    };
  }
  if (error instanceof StreamableHTTPError && denied === undefined) {
    if (error.code === 401) {
      return {
        reason: 'it wants an authorization (HTTP 401), and this host has none for it',
        again: false,
      };
    }
    return { reason: messageOf(error, redact), again: (error.code ?? 0) >= 500 };
  }
  const found = causeWithCode(error);
  const cause = errorCodeOf(found) === undefined ? (denied ?? found) : found;
  return { reason: messageOf(cause, redact), again: !LASTING.includes(errorCodeOf(cause)) };
}

/** The error of this project that lies behind one of a library. */
function causeWithCode(error: unknown): unknown {
  for (
    let at: unknown = error, steps = 0;
    at instanceof Error && steps < 5;
    at = at.cause, steps++
  ) {
    if (errorCodeOf(at) !== undefined) return at;
  }
  return error;
}

/** What an error says, in which a server may have had its word. */
export function messageOf(error: unknown, redact: (text: string) => string): string {
  if (!(error instanceof Error)) return 'it failed';
  // Before the text is cut, and after hidden characters are gone from it.
  return shorten(redact(cleanText(redact(error.message), 8_000)), 500);
}

/**
 * Waits for work until it has taken too long.
 *
 * @throws `NETWORK_TIMEOUT`, also when the signal fires
 */
export async function withDeadline<T>(
  work: Promise<T>,
  { connectTimeoutMs }: Pick<McpLimits, 'connectTimeoutMs'>,
  signal?: AbortSignal,
): Promise<T> {
  const ended = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new EthosError('NETWORK_TIMEOUT', `no answer within ${connectTimeoutMs / 1_000} s`));
    }, connectTimeoutMs);
    const closed = () => reject(new EthosError('NETWORK_TIMEOUT', 'it was closed'));
    if (signal?.aborted === true) closed();
    signal?.addEventListener('abort', closed, { signal: ended.signal });
    ended.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    ended.abort();
  }
}
