export { braveSearch } from './brave-search.js';
export { exaSearch } from './exa-search.js';
export type { FetchUrlOptions } from './fetch-url.js';
export { createFetchUrlTool, fetchUrlTool } from './fetch-url.js';
export type {
  Freshness,
  ProviderResponse,
  SearchAnswer,
  SearchProblem,
  SearchProvider,
  SearchProviderOptions,
  SearchQuery,
  SearchResult,
} from './search-provider.js';
export { searxngSearch } from './searxng-search.js';
export { tavilySearch } from './tavily-search.js';
export type { WebSearchOptions } from './web-search.js';
export { createWebSearchTool } from './web-search.js';
export type { WebToolsOptions } from './web-tools.js';
export { createWebTools } from './web-tools.js';
