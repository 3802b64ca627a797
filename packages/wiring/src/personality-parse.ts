import { nearestName } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { LineCounter } from 'yaml';
import { z } from 'zod';
import { notePlaces } from './personality-places.js';
import { personalitySchema } from './personality-schema.js';
import { notePolicyLines } from './policy-lines.js';
import { LISTS_OF_NAMES, noteSoundKeys, type SoundKeys } from './sound-keys.js';
import type { PathVariables } from './substitute.js';
import {
  byImportance,
  type KeyPath,
  type Problem,
  parseYamlMapping,
  quote,
  type YamlMapping,
} from './yaml-mapping.js';

const MAX_PROBLEMS = 100;

type Issue = z.core.$ZodIssue;

/**
 * Parses the file of a personality.
 *
 * @param text YAML 1.2
 * @param options the `file` as errors name it, the personality's `id`, and the values of the path
 * variables
 * @returns the config, deeply frozen, with absolute paths
 * @throws `CONFIG_INVALID` with every problem (the first 100) on a line of its own, as
 * `file:line:column: …`
 */
export function parsePersonality(
  text: string,
  options: { file: string; id: string; variables: PathVariables },
): PersonalityConfig {
  const { lines, mapping, ...source } = parseYamlMapping(text);
  const { problems } = source;
  let sound: SoundKeys | undefined;
  if (mapping) {
    const schema = personalitySchema(options.variables);
    const parsed = schema.safeParse(mapping.value);
    if (parsed.success && problems.length === 0) {
      const config = deepFreeze({ id: options.id, ...parsed.data });
      notePolicyLines(config, (path) => {
        const isEntry = typeof path.at(-1) === 'number';
        return lines.linePos(isEntry ? mapping.offsetOf(path) : mapping.offsetOfKey(path)).line;
      });
      notePlaces(config, (path) => {
        const { line, col } = lines.linePos(mapping.offsetOf(path));
        return `${line}:${col}`;
      });
      return config;
    }
    // An alias, or a key that stands twice, already has a problem, so its value is not checked.
    const taken = new Set(problems.map(({ offset }) => offset));
    const issues = parsed.error?.issues ?? [];
    problems.push(
      ...issues
        .flatMap((issue) => describe(issue, mapping, schema))
        .filter(({ offset }) => !taken.has(offset)),
    );
    sound = soundKeys(options.id, { lines, mapping, problems, schema });
  }
  const report = problems
    .sort(byImportance)
    .slice(0, MAX_PROBLEMS)
    .map(({ offset, message }) => {
      const { line, col } = lines.linePos(offset);
      return `${options.file}:${line}:${col}: ${message}`;
    });
  if (problems.length > MAX_PROBLEMS) {
    report.push(`${options.file}: and more`);
  }
  const error = new EthosError('CONFIG_INVALID', report.join('\n'));
  if (sound !== undefined) noteSoundKeys(error, sound);
  throw error;
}

/** The parts of an invalid file that can be compared with tools and plugins. */
function soundKeys(
  id: string,
  {
    lines,
    mapping,
    problems,
    schema,
  }: {
    lines: LineCounter;
    mapping: YamlMapping;
    problems: readonly Problem[];
    schema: ReturnType<typeof personalitySchema>;
  },
): SoundKeys | undefined {
  const value = z.record(z.string(), z.unknown()).safeParse(mapping.value).data ?? {};
  const keys = Object.keys(value)
    .filter((key) => mapping.isKnown([key]))
    .sort((a, b) => mapping.offsetOfKey([a]) - mapping.offsetOfKey([b]));
  const broken = new Set(
    problems.map(({ offset }) => keys.findLast((key) => mapping.offsetOfKey([key]) <= offset)),
  );
  const names = Object.keys(schema.shape);
  // A misspelt key was meant as another key. That one counts as invalid too, since its value is not
  // known.
  const meant = new Set(
    Object.keys(value).map((key) => (names.includes(key) ? undefined : nearestName(key, names))),
  );
  const isSound = (key: string) => !broken.has(key) && !meant.has(key);
  /** The original indexes of the names that are left. */
  const indexes = new Map<PropertyKey | undefined, number[]>();
  const entries = keys.flatMap((key): [string, unknown][] => {
    if (isSound(key)) return Object.hasOwn(schema.shape, key) ? [[key, value[key]]] : [];
    const list = value[key];
    if (!LISTS_OF_NAMES.some((each) => each === key) || !Array.isArray(list)) return [];
    const left = [...list.keys()].filter(
      (at) =>
        /\S/u.test(typeof list[at] === 'string' ? list[at] : '') && mapping.isKnown([key, at]),
    );
    indexes.set(key, left);
    return [[key, left.map((at) => list[at])]];
  });
  const { data } = schema.safeParse({ name: id, ...Object.fromEntries(entries) });
  if (data === undefined) return undefined;
  const config = deepFreeze({ id, ...data });
  notePlaces(config, ([key, at, ...rest]) => {
    const place = typeof at === 'number' ? (indexes.get(key)?.[at] ?? at) : at;
    const path = [key, place, ...rest].filter((part) => part !== undefined);
    const { line, col } = lines.linePos(mapping.offsetOf(path));
    return `${line}:${col}`;
  });
  const syntax = problems.filter(({ isSyntax }) => isSyntax === true).length;
  return { config, isSound, syntaxErrors: Math.min(syntax, MAX_PROBLEMS) };
}

function describe(issue: Issue, mapping: YamlMapping, schema: z.ZodType): Problem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    const place = path.length > 0 ? ` in ${keyName(path)}` : '';
    // To find a key takes time in the number of keys. So only as many are found as are shown.
    const unread = issue.keys.slice(0, MAX_PROBLEMS + 1);
    const said = unread.filter((key) => mapping.isKnown([...path, key]));
    return said.map((key) => {
      const near = nearestName(key, known);
      return {
        offset: mapping.offsetOfKey([...path, key]),
        message: `unknown key ${quote(key)}${place}; ${
          near ? `did you mean "${near}"?` : `the keys here are ${known.join(', ')}`
        }`,
      };
    });
  }
  if (!mapping.isKnown(path)) return [];
  const offset = mapping.offsetOf(path);
  const expected = expectedBy(issue);
  if (expected === undefined) return [{ offset, message: `${keyName(path)}: ${issue.message}` }];
  const value = valueAt(mapping.value, path);
  const meant = SWITCHES.get(String(value).toLowerCase());
  const hint = meant !== undefined && /\btrue\b/.test(expected) ? `; write ${meant}` : '';
  return [
    { offset, message: `${keyName(path)}: expected ${expected}, found ${kindOf(value)}${hint}` },
  ];
}

/** What older YAML takes for a truth value. Here it is text. */
const SWITCHES = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);

/** What an issue asks for, in our words; `undefined` if its message says it. */
function expectedBy(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return EXPECTED[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `a number ${issue.inclusive === false ? 'above' : 'from'} ${issue.minimum}`
        : undefined;
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `a number ${issue.inclusive === false ? 'below' : 'up to'} ${issue.maximum}`
        : undefined;
    default:
      return undefined;
  }
}

const EXPECTED: Partial<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'a mapping',
  record: 'a mapping',
  string: 'text',
};

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? 'text' : `the ${typeof value} ${value}`;
}

function valueAt(root: unknown, path: KeyPath): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return value;
}

/** The keys that the schema knows at a path. */
function keysAt(schema: z.ZodType, path: KeyPath): string[] {
  let at: unknown = schema;
  for (const part of path) {
    if (at instanceof z.ZodObject) at = at.shape[String(part)];
    else if (at instanceof z.ZodRecord) at = at.valueType;
    if (at instanceof z.ZodExactOptional) at = at.unwrap();
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** E.g. `safety.network.allow[1]`. */
function keyName(path: KeyPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1);
}

/** Freezes a config: everybody who asks gets the same object, and nobody may widen it. */
function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
  return Object.freeze(value);
}
