import { randomBytes, timingSafeEqual } from 'node:crypto';
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

/** Where tokens are kept: a store for secrets. Keys are refs of secrets. */
export interface McpTokenStore {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Sends the user to where they authorize a server for a personality. */
export type McpAuthorize = (
  url: string,
  whom: { server: string; personality: string | undefined },
) => void | Promise<void>;

export interface StoredOAuthOptions {
  store: McpTokenStore;
  server: string;
  personality: string | undefined;
  /** Of the server; what is stored for another one is not used. */
  url: string;
  redirectUrl: string;
  client?: { id: string; secret?: string };
  scope?: string;
  authorize: McpAuthorize;
}

// The issuer is what the SDK binds them to.
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

type Kept = 'tokens' | 'client' | 'verifier' | 'state' | 'discovery';

/** The OAuth client of one server for one personality, whose tokens no other one sees. */
export class StoredOAuth implements OAuthClientProvider {
  readonly #options: StoredOAuthOptions;
  /** The tokens that were seen, which must not come back in a result. */
  readonly #seen = new Set<string>();

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

  /** @throws `CONFIG_INVALID` for a state that this client did not give out */
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

  /** Takes the tokens out of a text. */
  redact(text: string): string {
    let redacted = text;
    for (const token of this.#seen) redacted = redacted.replaceAll(token, '[secret:token]');
    return redacted;
  }

  // Between the redirect and the code: where the server said that its authorization is.
  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    const { authorizationServerUrl, resourceMetadataUrl } = state;
    await this.#set('discovery', { authorizationServerUrl, resourceMetadataUrl });
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    const kept = discoverySchema.safeParse(await this.#get('discovery'));
    if (!kept.success) return undefined;
    const { authorizationServerUrl, resourceMetadataUrl } = kept.data;
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

  #see({ access_token, refresh_token }: OAuthTokens): void {
    for (const token of [access_token, refresh_token]) {
      if (token !== undefined && token.length >= 8) this.#seen.add(token);
    }
  }

  #key(kept: Kept): string {
    const { server, personality } = this.#options;
    // No personality's part is `_`.
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

function withoutUndefined({ client_secret, issuer, ...rest }: z.infer<typeof clientSchema>) {
  return {
    ...rest,
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
