import { canonicalJson } from '../canonical-json.js';
import { depthOf } from '../depth.js';
import { isObject } from '../shape.js';
import { cleanLine, cleanText, hiddenIn } from '../text/clean-text.js';

/** A tool as a server describes it. */
export interface McpToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** What the server says of its tool: `readOnlyHint`, `destructiveHint`, … */
  annotations: Record<string, unknown>;
}

/** A tool that is kept from models, and the reason. */
export interface HeldTool {
  tool: string;
  reason: string;
}

const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 16_000;
const MAX_SCHEMA_CHARS = 64_000;
const MAX_ANNOTATION_CHARS = 8_000;
const MAX_SCHEMA_DEPTH = 32;

/**
 * Checks one entry of a server's list of tools. Never throws.
 *
 * @param entry what the server sent
 * @param client `tasks`: whether it may run calls as tasks. When it may not, a tool that runs only
 * as a task is held back
 * @returns the definition and whether it runs as a task, or the tool's name and why it is held back
 */
export function readMcpTool(
  entry: unknown,
  client: { tasks?: boolean } = {},
): { definition: McpToolDefinition; isTask: boolean } | HeldTool {
  const { name, description = '', inputSchema, annotations = {}, execution } = fieldsOf(entry);
  const tool = typeof name === 'string' ? cleanText(name, 100) : '';
  const held = (reason: string) => ({ tool, reason });
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) {
    return held(`name: expected a text of 1 to ${MAX_NAME_CHARS} characters`);
  }
  if (typeof description !== 'string' || description.length > MAX_DESCRIPTION_CHARS) {
    return held(`description: expected a text of at most ${MAX_DESCRIPTION_CHARS} characters`);
  }
  if (!isObject(inputSchema)) return held('inputSchema: expected an object');
  if (!isObject(annotations)) return held('annotations: expected an object');
  const isTask = isObject(execution) && execution.taskSupport === 'required';
  if (isTask && client.tasks !== true) {
    return held('runs only as an MCP task');
  }
  // The depth is checked first, since the following checks are recursive.
  if (depthOf(inputSchema, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) {
    return held(`its inputSchema nests deeper than ${MAX_SCHEMA_DEPTH} levels`);
  }
  if (depthOf(annotations, MAX_SCHEMA_DEPTH) > 8) return held('its annotations nest too deep');
  if (inputSchema.type !== 'object') return held('its inputSchema is not one of an object');
  if (canonicalJson(inputSchema).length > MAX_SCHEMA_CHARS) {
    return held(`its inputSchema is longer than ${MAX_SCHEMA_CHARS} characters`);
  }
  const hidden = hiddenInSchema(inputSchema, []);
  if (hidden !== undefined) return held(hidden);
  if (canonicalJson(annotations).length > MAX_ANNOTATION_CHARS) {
    return held('its annotations are too long');
  }
  return { definition: { name, description, inputSchema, annotations }, isTask };
}

function fieldsOf(entry: unknown): Record<string, unknown> {
  return isObject(entry) ? entry : {};
}

const TEXT_KEYS: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
const MAX_SCHEMA_TEXT_CHARS = 2_000;

/**
 * A schema for the model: as it is, with the texts that only a model reads cleaned.
 *
 * @param schema as the server sent it, no deeper than `readMcpTool` allows
 * @returns a new schema
 */
export function cleanMcpSchema(schema: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== '__proto__')
      .map(([key, value]) => [
        key,
        TEXT_KEYS.has(key) && typeof value === 'string'
          ? cleanText(value, MAX_SCHEMA_TEXT_CHARS)
          : cleanWithin(value),
      ]),
  );
}

/**
 * Why a schema is not shown to a model: a name or value in it contains invisible characters. Names
 * and values must stay as the server wrote them, so they can't be cleaned as descriptions are.
 */
function hiddenInSchema(value: unknown, path: readonly string[]): string | undefined {
  if (typeof value === 'string') {
    const hidden = hiddenIn(value);
    if (hidden === undefined) return undefined;
    return `its inputSchema has ${hidden} at ${cleanLine(path.join('.'), 200)}`;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const at = [...path, key];
    const isText = TEXT_KEYS.has(key) && typeof item === 'string';
    const found = hiddenInSchema(key, at) ?? (isText ? undefined : hiddenInSchema(item, at));
    if (found !== undefined) return found;
  }
  return undefined;
}

function cleanWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleanWithin);
  return typeof value === 'object' && value !== null ? cleanMcpSchema({ ...value }) : value;
}
