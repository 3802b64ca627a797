import { createHash } from 'node:crypto';
import { z } from 'zod';
import { cleanLine, cleanText, hiddenIn } from './clean-text.js';
import { canonicalJson, depthOf } from './json-message.js';

/** A tool as a server describes it. */
export interface McpToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** What the server says of its tool: `readOnlyHint`, `destructiveHint`, … */
  annotations: Record<string, unknown>;
}

/** A tool that passed the checks, with the hash of what it is pinned by. */
export interface ListedTool {
  definition: McpToolDefinition;
  hash: string;
}

/** A tool that is kept out of the registry, and why. */
export interface HeldTool {
  tool: string;
  reason: string;
}

const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 16_000;
const MAX_SCHEMA_CHARS = 64_000;
const MAX_ANNOTATION_CHARS = 8_000;
const MAX_SCHEMA_DEPTH = 32;

const toolSchema = z.object({
  name: z.string().min(1).max(MAX_NAME_CHARS),
  description: z.string().max(MAX_DESCRIPTION_CHARS).optional(),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z.record(z.string(), z.unknown()).optional(),
  execution: z.object({ taskSupport: z.string().optional() }).optional(),
});

/** Checks one entry of a server's list of tools. Never throws. */
export function readListedTool(entry: unknown): ListedTool | HeldTool {
  const parsed = toolSchema.safeParse(entry);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { tool: nameOf(entry), reason: `${issue?.path.join('.')}: ${issue?.message}` };
  }
  const { name, description = '', inputSchema, annotations = {}, execution } = parsed.data;
  const held = (reason: string) => ({ tool: cleanText(name, 100), reason });
  if (execution?.taskSupport === 'required') return held('runs only as an MCP task');
  // The depth first: what comes after it recurses.
  if (depthOf(inputSchema, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) {
    return held(`its inputSchema nests deeper than ${MAX_SCHEMA_DEPTH} levels`);
  }
  if (depthOf(annotations, MAX_SCHEMA_DEPTH) > 8) return held('its annotations nest too deep');
  if (inputSchema.type !== 'object') return held('its inputSchema is not one of an object');
  const schemaText = canonicalJson(inputSchema);
  if (schemaText.length > MAX_SCHEMA_CHARS) {
    return held(`its inputSchema is longer than ${MAX_SCHEMA_CHARS} characters`);
  }
  const hidden = hiddenInSchema(inputSchema, []);
  if (hidden !== undefined) return held(hidden);
  const annotationText = canonicalJson(annotations);
  if (annotationText.length > MAX_ANNOTATION_CHARS) return held('its annotations are too long');
  const pinned = canonicalJson({ name, description, inputSchema, annotations });
  return {
    definition: { name, description, inputSchema, annotations },
    hash: createHash('sha256').update(pinned).digest('hex'),
  };
}

const TEXT_KEYS: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
const MAX_SCHEMA_TEXT_CHARS = 2_000;

/** A schema for the model: as it is, with the texts that only a model reads cleaned. */
export function cleanSchema(schema: Record<string, unknown>): Record<string, unknown> {
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
 * Why a schema is not shown to a model: a name or value in it holds what nobody sees. Those must
 * stay as the server wrote them, so that they can't be cleaned as the texts are.
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
  return typeof value === 'object' && value !== null ? cleanSchema({ ...value }) : value;
}

function nameOf(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null || !('name' in entry)) return '';
  return typeof entry.name === 'string' ? cleanText(entry.name, 100) : '';
}
