import type { AnyTool } from '@ethosagent/types';
import { createFetchUrlTool, type FetchUrlOptions } from './fetch-url.js';
import { createWebSearchTool, type WebSearchOptions } from './web-search.js';

/** Options of `createWebTools`: those of both tools. */
export interface WebToolsOptions extends FetchUrlOptions, WebSearchOptions {}

/**
 * `fetch_url` and `web_search`. Both set `outputIsUntrusted` and `supportsDryRun`: a dry run checks the
 * arguments, and asks nobody.
 *
 * @param options of both tools
 * @returns the tools, to be registered
 * @throws `CONFIG_INVALID` for no search providers, or two of one id
 */
export function createWebTools(options: WebToolsOptions = {}): AnyTool[] {
  return [createFetchUrlTool(options), createWebSearchTool(options)];
}
