import type { StandardSchemaV1 } from '@standard-schema/spec';

const MAX_ISSUES = 50;
const MAX_SEGMENT_CHARS = 64;
const MAX_PATH_SEGMENTS = 20;
const MAX_MESSAGE_CHARS = 200;
const MAX_LEAVES = 1_000;
const MIN_BARE_CHARS = 8;

/**
 * Writes the issues of a schema in one line, with their paths:
 * `city: expected string; days[2]: too small`.
 *
 * Some schema libraries put the refused value into their messages. That value may be a secret or
 * very long, so `…` replaces strings of the arguments, and each part is cut to a fixed length.
 * After 50 issues, the line only counts the rest.
 *
 * @param issues the issues that the schema found
 * @param args the arguments, as the model passed them
 * @returns one line for the model
 */
export function describeIssues(issues: readonly StandardSchemaV1.Issue[], args: unknown): string {
  if (issues.length === 0) return 'the arguments are invalid';
  const shown = issues.slice(0, MAX_ISSUES).map((issue) => {
    const keys = (issue.path ?? []).map(keyOf);
    const message = plain(alternativesIn(issue) ?? issue.message, valueAt(args, keys));
    const path = renderPath(keys);
    return path === '' ? shorten(message) : `${path}: ${shorten(message)}`;
  });
  const hidden = issues.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return shown.join('; ');
}

function plain(message: string, value: unknown): string {
  // Zod's generic prefix adds nothing to the code `input_invalid`.
  return withoutValues(message, value).replace(/^Invalid input: /, '');
}

/** Why no branch of a union of Zod fits. Zod itself says no more than that none does. */
function alternativesIn(issue: StandardSchemaV1.Issue): string | undefined {
  if (issue.message !== 'Invalid input' || !('errors' in issue)) return undefined;
  const branches: unknown[] = Array.isArray(issue.errors) ? issue.errors : [];
  const reasons = branches.flatMap((branch) => {
    const [first]: StandardSchemaV1.Issue[] = Array.isArray(branch) ? branch : [];
    if (typeof first?.message !== 'string') return [];
    const path = renderPath((first.path ?? []).map(keyOf));
    const message = plain(first.message, undefined);
    return [path === '' ? message : `${path}: ${message}`];
  });
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join(', or ');
}

function keyOf(segment: PropertyKey | StandardSchemaV1.PathSegment): PropertyKey {
  return typeof segment === 'object' ? segment.key : segment;
}

function renderPath(keys: readonly PropertyKey[]): string {
  let path = '';
  for (const key of keys.slice(0, MAX_PATH_SEGMENTS)) {
    if (typeof key === 'number') path += `[${key}]`;
    else if (typeof key === 'string' && /^[A-Za-z_$][\w$-]*$/.test(key)) {
      path += `${path === '' ? '' : '.'}${cut(key, MAX_SEGMENT_CHARS)}`;
    } else path += `[${JSON.stringify(cut(String(key), MAX_SEGMENT_CHARS))}]`;
  }
  return keys.length > MAX_PATH_SEGMENTS ? `${path}…` : path;
}

function shorten(message: string): string {
  return cut(message, MAX_MESSAGE_CHARS);
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The value that an issue is about; `args` itself if the path does not lead to a value. */
function valueAt(args: unknown, keys: readonly PropertyKey[]): unknown {
  let value = args;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return value;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

function withoutValues(message: string, value: unknown): string {
  let text = message;
  for (const leaf of leavesOf(value)) {
    text = text.replaceAll(`"${leaf}"`, '"…"').replaceAll(`'${leaf}'`, "'…'");
    // Without quotes, a short value may be an ordinary word of the message.
    if (leaf.length >= MIN_BARE_CHARS) text = text.replaceAll(leaf, '…');
  }
  return text;
}

function leavesOf(root: unknown): string[] {
  const leaves: string[] = [];
  const open = [root];
  for (let seen = 0; open.length > 0 && seen < MAX_LEAVES; seen += 1) {
    const value = open.pop();
    if (typeof value === 'string' || typeof value === 'number') {
      if (value !== '') leaves.push(String(value));
    } else if (typeof value === 'object' && value !== null) {
      const children = Array.isArray(value) ? value : Object.values(value);
      open.push(...children.slice(0, MAX_LEAVES));
    }
  }
  return leaves;
}
