import { EthosError } from '@ethosagent/types';

/** The address of a provider's API. */
export interface ProviderUrl {
  /** The host, as a capability names it: with a port only if it is not the default one. */
  host: string;
  /** Returns the absolute URL of a path such as `search`. */
  at(path: string, query?: Record<string, string | undefined>): string;
}

/** Parses the root of an API. @throws `CONFIG_INVALID` when it is not an http or https URL */
export function providerUrl(baseUrl: string): ProviderUrl {
  const isUrl = URL.canParse(baseUrl);
  const root = isUrl ? new URL(baseUrl) : undefined;
  const isOpen = root !== undefined && `${root.username}${root.password}` === '';
  if (!isOpen || !/^https?:$/.test(root.protocol)) {
    throw new EthosError(
      'CONFIG_INVALID',
      'baseUrl of a search provider: expected an http or https URL without a user name or password',
    );
  }
  const folder = root.href.replace(/[?#].*$/s, '').replace(/\/*$/, '/');
  return {
    host: root.host,
    at(path, query = {}) {
      const url = new URL(path, folder);
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) url.searchParams.set(name, value);
      }
      return url.href;
    },
  };
}
