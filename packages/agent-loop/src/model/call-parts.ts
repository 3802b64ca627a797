import { isObject, missingToolText } from '@ethosagent/policy';
import type { ToolErrorCode } from '@ethosagent/types';
import type { StepCall } from '../journal/records.js';

/** A call as the model sent it. */
export interface IssuedCall {
  id: string;
  name: string;
  input: unknown;
  /** Whether no tool of this name was offered. */
  isUnoffered?: boolean;
  /** Why the arguments can't be read. */
  unreadable?: string;
}

const MAX_DEPTH = 100;
// The characters and the length that the strictest provider accepts.
const PLAIN_ID = /^[\w-]{1,40}$/;
const PLAIN_NAME = /^[\w-]{1,64}$/;

/**
 * A call as it is stored in the history. A provider would refuse ids that were used before, invalid
 * names and invalid arguments, and then refuse every later request of the session. So they are
 * replaced.
 */
export function stepCall(
  issued: IssuedCall,
  options: {
    isTaken: (id: string) => boolean;
    spareId: () => string;
    /**
     * Whether there is such a tool, although it was not offered. Then its host explains why it
     * can't be called.
     */
    isTool?: (name: string) => boolean;
    /** The names that the model was offered. */
    offered?: readonly string[];
  },
): StepCall {
  const { id, name, input } = issued;
  const isPlain = isObject(input) && depthOf(input) <= MAX_DEPTH;
  const problem = problemOf(issued, isPlain, options);
  return {
    type: 'call',
    id: PLAIN_ID.test(id) && !options.isTaken(id) ? id : options.spareId(),
    name: PLAIN_NAME.test(name) ? name : plainName(name),
    input: isPlain ? wellFormedEntries(input) : {},
    ...(problem !== undefined && { problem }),
  };
}

function problemOf(
  { name, isUnoffered, unreadable, input }: IssuedCall,
  isPlain: boolean,
  {
    isTool = () => false,
    offered = [],
  }: { isTool?: (name: string) => boolean; offered?: readonly string[] },
): { code: ToolErrorCode; error: string } | undefined {
  if (!PLAIN_NAME.test(name) || (isUnoffered === true && !isTool(name))) {
    return { code: 'not_available', error: missingToolText(plainName(name), offered) };
  }
  if (unreadable !== undefined) {
    return {
      code: 'input_invalid',
      error: `the arguments are not what the tool takes: ${unreadable.slice(0, 500).toWellFormed()}`,
    };
  }
  if (isPlain) {
    // JSON can contain `1e999`. It is parsed to infinity, which JSON can't express.
    const isSayable = everyNumber(input, Number.isFinite);
    const problem = 'a number in the arguments is too large; give a smaller one';
    return isSayable ? undefined : { code: 'input_invalid', error: problem };
  }
  return {
    code: 'input_invalid',
    error: isObject(input)
      ? `the arguments are nested deeper than ${MAX_DEPTH} levels`
      : 'the arguments are not a JSON object',
  };
}

function wellFormedEntries(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key.toWellFormed(), wellFormed(value)]),
  );
}

// For some providers, half of a surrogate pair is not valid JSON.
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (Array.isArray(value)) return value.map(wellFormed);
  return isObject(value) ? wellFormedEntries(value) : value;
}

function everyNumber(value: unknown, is: (value: number) => boolean): boolean {
  if (typeof value === 'number') return is(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every((child) => everyNumber(child, is));
}

function plainName(name: string): string {
  return name.slice(0, 64).replaceAll(/[^\w-]/g, '_') || 'unnamed';
}

function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_DEPTH) {
    depth += 1;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null
        ? Object.values(item).filter((child) => typeof child === 'object' && child !== null)
        : [],
    );
  }
  return depth;
}
