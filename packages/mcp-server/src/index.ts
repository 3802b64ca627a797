export { type ConnectedMcpClient, type FromMcpOptions, fromMcp } from './from-mcp.js';
export type { McpHttpLimits } from './http/http-limits.js';
export {
  type McpHttpClient,
  type McpHttpServer,
  type McpHttpSessionEvent,
  type ServeHttpOptions,
  serveHttp,
} from './serve-http.js';
export { type McpStdioServer, type ServeStdioOptions, serveStdio } from './serve-stdio.js';
export type {
  McpServeOptions,
  McpSessionSettings,
  McpWaitingCall,
  ServedRuntime,
} from './served-runtime.js';
