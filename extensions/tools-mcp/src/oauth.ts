import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  classifyAddress,
  compileHostSet,
  normalizeHost,
  parseJson,
  urlPort,
} from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
} from '@modelcontextprotocol/sdk/client/auth.js';
import {
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  type OAuthTokens,
  OAuthTokensSchema,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { mcpServerPart } from './names.js';

/** Stores the tokens of OAuth. It must be a store for secrets. Keys are refs of secrets. */
export interface McpTokenStore {
  /** Returns the stored value; `null` when there is none. */
  get(key: string): Promise<string | null>;
  /** Replaces the stored value. */
  set(key: string, value: string): Promise<void>;
  /** Removes the stored value. */
  delete(key: string): Promise<void>;
}

/** Sends the user to the page where they authorize a server for a personality. */
export type McpAuthorize = (
  url: string,
  whom: { server: string; personality: string | undefined },
) => void | Promise<void>;

export interface StoredOAuthOptions {
  store: McpTokenStore;
  server: string;
  personality: string | undefined;
  /** The URL of the server. Tokens that are stored for another URL are not used. */
  url: string;
  redirectUrl: string;
  /** The hosts of the authorization server that the file names, if it names any. */
  hosts: readonly string[];
  client?: { id: string; secret?: string };
  scope?: string;
  authorize: McpAuthorize;
}

// The SDK binds the client and the tokens to the issuer.
const clientSchema = z.looseObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  issuer: z.string().optional(),
});
const tokensSchema = OAuthTokensSchema.loose();

const discoverySchema = z.object({
  authorizationServerUrl: z.string(),
  resourceMetadataUrl: z.string().optional(),
});

const boundSchema = z.object({ client: z.string(), issuer: z.string() });
const endpointsSchema = z.object({
  authorization_endpoint: z.string().optional(),
  token_endpoint: z.string().optional(),
  registration_endpoint: z.string().optional(),
});

type Kept = 'tokens' | 'client' | 'issuer' | 'verifier' | 'state' | 'discovery';

/** The OAuth client of one server for one personality. No other personality sees its tokens. */
export class StoredOAuth implements OAuthClientProvider {
  readonly #options: StoredOAuthOptions;
  /** The tokens so far. They must not appear in a result. */
  readonly #seen = new Set<string>();
  #endpoints: { issuer: string; origins: ReadonlySet<string> } | undefined;

  constructor(options: StoredOAuthOptions) {
    this.#options = options;
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { client, scope } = this.#options;
    return {
      client_name: 'Ethos tools',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: client?.secret === undefined ? 'none' : 'client_secret_post',
      ...(scope === undefined ? {} : { scope }),
    };
  }

  async state(): Promise<string> {
    const state = randomBytes(24).toString('base64url');
    await this.#set('state', state);
    return state;
  }

  /** Checks a state. @throws `CONFIG_INVALID` when this client did not send it */
  async assertState(state: string): Promise<void> {
    const kept = z.string().safeParse(await this.#get('state'));
    const expected = Buffer.from(kept.success ? kept.data : '');
    const given = Buffer.from(state);
    if (
      expected.length === 0 ||
      expected.length !== given.length ||
      !timingSafeEqual(expected, given)
    ) {
      throw new EthosError(
        'CONFIG_INVALID',
        'the state is not that of the authorization that waits',
      );
    }
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    const { client } = this.#options;
    if (client !== undefined) {
      return {
        client_id: client.id,
        ...(client.secret === undefined ? {} : { client_secret: client.secret }),
      };
    }
    const kept = clientSchema.safeParse(await this.#get('client'));
    return kept.success ? withoutUndefined(kept.data) : undefined;
  }

  async saveClientInformation(information: OAuthClientInformationMixed): Promise<void> {
    if (this.#options.client === undefined) await this.#set('client', information);
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    const kept = tokensSchema.safeParse(await this.#get('tokens'));
    if (!kept.success) return undefined;
    this.#see(kept.data);
    return kept.data;
  }

  async saveTokens(tokens: OAuthTokens): Promise<void> {
    this.#see(tokens);
    await this.#set('tokens', tokens);
    await this.#delete('verifier');
    await this.#delete('state');
    await this.#delete('discovery');
  }

  /** Removes the tokens from a text. */
  redact(text: string): string {
    let redacted = text;
    for (const token of this.#seen) redacted = redacted.replaceAll(token, '[secret:token]');
    return redacted;
  }

  /**
   * Stores where the authorization server is, according to the MCP server, from the redirect until
   * the code comes.
   *
   * @throws `HOST_NOT_ALLOWED` when that is not on the hosts of the file, or has endpoints
   *   elsewhere; `CONFIG_INVALID` when the client of the file belongs to another authorization
   *   server
   */
  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    const { authorizationServerUrl, resourceMetadataUrl } = state;
    const { server } = this.#options;
    this.#endpoints = assertEndpoints(state, this.#options);
    await this.#bindClient(this.#endpoints.issuer, server);
    await this.#set('discovery', { authorizationServerUrl, resourceMetadataUrl });
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    const kept = discoverySchema.safeParse(await this.#get('discovery'));
    if (!kept.success) return undefined;
    const { authorizationServerUrl, resourceMetadataUrl } = kept.data;
    // If the server does not publish its endpoints, the SDK uses its default paths.
    this.#endpoints = assertEndpoints({ authorizationServerUrl }, this.#options);
    return {
      authorizationServerUrl,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    };
  }

  async saveCodeVerifier(verifier: string): Promise<void> {
    await this.#set('verifier', verifier);
  }

  async codeVerifier(): Promise<string> {
    const kept = z.string().safeParse(await this.#get('verifier'));
    if (kept.success) return kept.data;
    throw new EthosError('CONFIG_INVALID', 'no authorization of this server waits for its code');
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { authorize, server, personality } = this.#options;
    if (this.#endpoints === undefined || !this.#endpoints.origins.has(url.origin)) {
      throw elsewhere(`the authorization at ${url.host}`);
    }
    await authorize(url.href, { server, personality });
  }

  async invalidateCredentials(
    scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery',
  ): Promise<void> {
    if (scope === 'all' || scope === 'client') await this.#delete('client');
    if (scope === 'all' || scope === 'tokens') await this.#delete('tokens');
    if (scope === 'all' || scope === 'verifier') await this.#delete('verifier');
    if (scope === 'all' || scope === 'discovery') await this.#delete('discovery');
  }

  // The client of the file belongs to one authorization server: the one of its first use.
  async #bindClient(issuer: string, server: string): Promise<void> {
    const { client } = this.#options;
    if (client === undefined) return;
    const kept = boundSchema.safeParse(await this.#get('issuer'));
    if (!kept.success || kept.data.client !== client.id) {
      await this.#set('issuer', { client: client.id, issuer });
    } else if (kept.data.issuer !== issuer) {
      throw new EthosError(
        'CONFIG_INVALID',
        `${server} names another authorization server, ${issuer}, than that of its client, ${kept.data.issuer}; delete ${this.#key('issuer')} if it has moved`,
      );
    }
  }

  #see({ access_token, refresh_token }: OAuthTokens): void {
    for (const token of [access_token, refresh_token]) {
      if (token !== undefined && token.length >= 8) this.#seen.add(token);
    }
  }

  #key(kept: Kept): string {
    const { server, personality } = this.#options;
    // `_` can not be a part of a personality's id, so no personality has this key.
    const whose = personality === undefined ? '_' : mcpServerPart(personality);
    return `mcp-oauth/${mcpServerPart(server)}/${whose}/${kept}`;
  }

  async #get(kept: Kept): Promise<unknown> {
    const text = await this.#options.store.get(this.#key(kept));
    if (text === null) return undefined;
    const record = z.object({ url: z.string(), value: z.unknown() }).safeParse(parseJson(text));
    return record.success && record.data.url === this.#options.url ? record.data.value : undefined;
  }

  #set(kept: Kept, value: unknown): Promise<void> {
    return this.#options.store.set(
      this.#key(kept),
      JSON.stringify({ url: this.#options.url, value }),
    );
  }

  #delete(kept: Kept): Promise<void> {
    return this.#options.store.delete(this.#key(kept));
  }
}

/**
 * Throws when an authorization server or one of its endpoints is in a wrong place. They must be on
 * the hosts of the file. When the file names none, they must be on the host of the server, all at
 * one origin. They must use https, except on this machine. A hostile endpoint elsewhere would get
 * the codes, or the user, of another authorization server.
 */
function assertEndpoints(
  { authorizationServerUrl, authorizationServerMetadata }: OAuthDiscoveryState,
  { hosts, url: server }: StoredOAuthOptions,
): { issuer: string; origins: ReadonlySet<string> } {
  const issuer = new URL(authorizationServerUrl);
  const known = endpointsSchema.parse(authorizationServerMetadata ?? {});
  const origins = new Set<string>();
  for (const [what, text] of [
    ['the authorization server', issuer.href],
    ...Object.entries(known).map(([key, url]) => [`${key} of the authorization server`, url]),
  ]) {
    if (what === undefined || text === undefined) continue;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const fits =
      url !== undefined &&
      (hosts.length > 0
        ? compileHostSet(hosts).matches(url.hostname, urlPort(url)) !== undefined
        : url.origin === issuer.origin && url.hostname === new URL(server).hostname);
    if (!fits || !/^https?:$/.test(url.protocol)) {
      throw elsewhere(`${what}, ${url?.host ?? 'no url'},`);
    }
    // Without TLS, tokens and codes would be readable on the network.
    if (url.protocol === 'http:' && !isThisMachine(url)) {
      throw new EthosError('HOST_NOT_ALLOWED', `${what}, ${url.host}, has no https`);
    }
    origins.add(url.origin);
  }
  return { issuer: issuer.href, origins };
}

/** Whether a URL leads to this machine without asking a resolver. */
function isThisMachine({ hostname }: URL): boolean {
  const host = normalizeHost(hostname) ?? '';
  return /(?:^|\.)localhost$/.test(host) || classifyAddress(host).kind === 'loopback';
}

const elsewhere = (what: string) =>
  new EthosError(
    'HOST_NOT_ALLOWED',
    `${what} is not where mcp.json lets it be; name its hosts in oauth.hosts, if they are right`,
  );

function withoutUndefined({ client_secret, issuer, ...rest }: z.infer<typeof clientSchema>) {
  return {
    ...rest,
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}
