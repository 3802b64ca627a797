import { EthosError } from '@ethosagent/types';
import { nearestName } from './nearest-name.js';
import { isObject } from './shape.js';

/** What an option takes: whether a value fits, and what to give instead. */
type OptionKind = readonly [fits: (value: unknown) => boolean, wanted: string];

/**
 * The names of all options of a type, each with what it takes, or with `true` where something else looks
 * at its value. One that is missing, or is no option, does not compile.
 */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true | OptionKind };

/**
 * Refuses what is no options object, unknown names, and values of another kind, which only plain
 * JavaScript can pass. A misspelt option that was ignored could leave out a limit, such as `denyPaths`; so
 * could a promise of options.
 *
 * @param of what takes the options: a function, or the option that holds them
 * @param options as the caller gave them
 * @param known all names that there are, such as `OptionNames`, or an object of defaults
 * @throws `CONFIG_INVALID` with the nearest name, with all names, or with what an option takes
 */
export function assertOptions(
  of: string,
  options: unknown,
  known: Readonly<Record<string, boolean | number | OptionKind>>,
): void {
  if (options instanceof Promise) throw invalid(`${of}: the options are a promise; await it`);
  if (!isObject(options)) {
    const all = Object.keys(known).join(', ');
    throw invalid(`${of}: ${told(options)}; give an object with ${all}`);
  }
  const problem = unknownOption(options, known) ?? wrongOption<object>(options, known);
  if (problem !== undefined) throw invalid(`${of}: ${problem}`);
}

/**
 * The first option of an object that there is not, for a message.
 *
 * @param options an object
 * @param known an object with all names that there are
 * @returns `undefined` if there are all
 */
export function unknownOption(options: object, known: object): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const names = Object.keys(known);
  const near = nearestName(unknown, names);
  const next = near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"?`;
  return `there is no option "${unknown}"; ${next}`;
}

/** What options take, by their names. */
export type OptionValues<Options> = { readonly [Name in keyof Options]?: true | OptionKind };

/**
 * The first option whose value is of another kind, for a message. Absent options fit, promises never
 * do. An option of another kind could have no effect: `dryRun: 'true'` would run the calls.
 *
 * @param options an object
 * @param values what the options take
 * @returns `undefined` if all fit
 */
export function wrongOption<Options extends object>(
  options: Options,
  values: OptionValues<Options>,
): string | undefined {
  // No list of entries is made: each batch of calls asks this.
  for (const name in values) {
    const kind = Object.hasOwn(values, name) ? values[name] : undefined;
    const value: unknown = options[name];
    if (value === undefined || typeof kind !== 'object') continue;
    const [fits, wanted] = kind;
    const isPromise = value instanceof Promise;
    if (fits(value) && !isPromise) continue;
    return `${name} must be ${wanted}${isPromise ? '; await the promise' : ''}`;
  }
  return undefined;
}

/**
 * Refuses options of another kind, as `wrongOption` finds them.
 *
 * @param of what takes the options, for the message
 * @param options an object
 * @param values what the options take
 * @throws `CONFIG_INVALID` for the first one that does not fit
 */
export function assertOptionValues<Options extends object>(
  of: string,
  options: Options,
  values: OptionValues<Options>,
): void {
  const problem = wrongOption(options, values);
  if (problem !== undefined) throw invalid(`${of}: ${problem}`);
}

/** The numbers that an option takes. */
export interface NumberRule {
  /** What to give instead, for the message. */
  readonly wanted: string;
  /** Whether a number fits. */
  readonly fits: (value: number) => boolean;
}

/** The rule of limits. */
export const ABOVE_ZERO: NumberRule = { wanted: 'a number above zero', fits: (value) => value > 0 };

/**
 * Refuses options that are no numbers, or do not fit. A limit of another type would have no effect.
 *
 * @param of what the messages put before the names, such as `limits.`
 * @param values the options by their names
 * @param rule which numbers fit
 * @throws `CONFIG_INVALID` for the first one that does not fit
 */
export function assertNumbers(of: string, values: object, { wanted, fits }: NumberRule): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number' && fits(value)) continue;
    const said = typeof value === 'string' ? `the text ${JSON.stringify(value)}` : String(value);
    throw invalid(`${of}${name} is ${said}; give ${wanted}`);
  }
}

function told(options: unknown): string {
  if (options === undefined) return 'the options are missing';
  return `the options are ${options === null || Array.isArray(options) ? 'not an object' : `of type ${typeof options}`}`;
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}
