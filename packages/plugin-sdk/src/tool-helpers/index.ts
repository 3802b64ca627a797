export type {
  InputToolDefinition,
  PlainToolDefinition,
  SchemaToolDefinition,
} from '../tool-helpers.js';
export { defineTool, err, ok } from '../tool-helpers.js';
