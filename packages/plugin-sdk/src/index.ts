export type { FailureAnswers } from './failures.js';
export { failureOf, withFailures } from './failures.js';
export { describeIssues } from './input-issues.js';
export type { EthosPlugin, EthosPluginApi, Plugin, PluginApi } from './plugin.js';
export { definePlugin } from './plugin.js';
export type { PluginHost, PluginHostOptions, PluginInfo } from './plugin-host.js';
export { createPluginHost } from './plugin-host.js';
export { pluginOf } from './plugin-of.js';
export type { ToolContextFor } from './tool-context-for.js';
export type {
  InputToolDefinition,
  PlainToolDefinition,
  SchemaToolDefinition,
} from './tool-helpers.js';
export { defineTool, err, ok } from './tool-helpers.js';
