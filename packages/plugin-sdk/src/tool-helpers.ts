import {
  type AnyTool,
  type ApprovalFacts,
  EthosError,
  type FailureCause,
  misnamedToolProperties,
  type Tool,
  type ToolCapabilities,
  type ToolContext,
  type ToolErrorCode,
  type ToolInput,
  type ToolInputResult,
  type ToolResult,
} from '@ethosagent/types';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describeIssues } from './input-issues.js';
import { isStandardSchema, jsonSchemaOf } from './input-schema.js';
import { missingAccessorCheck } from './missing-accessor.js';
import type { AccessorsFor, RemediesFor, ToolTurn, Undeclared } from './tool-context-for.js';
import { toolSettings } from './tool-settings.js';

/**
 * Makes the result of a call that succeeded.
 *
 * @param value the text that the model reads
 * @param extra `structured`: a payload for consumers that know the tool; `cost_usd`: the cost in US
 * dollars; `untrusted: false` if nothing in this one result comes from outside
 * @returns the result
 */
export function ok(
  value: string,
  extra?: { structured?: Record<string, unknown>; cost_usd?: number; untrusted?: false },
): ToolResult {
  return { ok: true, value, ...extra };
}

/**
 * Makes the result of a call that failed.
 *
 * @param error the text that the model reads; it should say what to do next, and contain no secret
 * @param code the class of the error; `execution_failed` when absent
 * @param cause the reason, for the host; when absent, the host derives it from the class
 * @returns the failed result
 */
export function err(
  error: string,
  code: ToolErrorCode = 'execution_failed',
  cause?: FailureCause,
): ToolResult {
  return { ok: false, error, code, ...(cause !== undefined && { cause }) };
}

/** Makes it a compile error to declare a capability that does not exist. */
type NoOther<C> = { [Key in Exclude<keyof C, keyof ToolCapabilities>]: never };

/** The fields that every form of a definition has. */
type ToolBase<TArgs, T extends StandardSchemaV1> = Omit<
  Tool<TArgs>,
  'schema' | 'capabilities' | 'execute' | 'input' | 'settings' | 'requiresApproval'
> & {
  /**
   * The settings that an operator may write for this tool in a personality, as a Standard Schema of
   * an object, e.g. `z.strictObject({ limit: z.int().default(10) })`. `{}` must be valid. `execute`
   * gets the parsed value as `ctx.settings`.
   */
  settings?: T;
  /**
   * Whether a call waits for the host's `approve` callback. A function decides this for each call,
   * from the parsed arguments. If it returns a text, the call waits, and the host gets the text as
   * the reason.
   */
  requiresApproval?:
    | boolean
    | ((
        args: TArgs,
        facts: ApprovalFacts<StandardSchemaV1.InferOutput<T>>,
      ) => boolean | string | Promise<boolean | string>);
};

/** Empty if the tool has no settings. */
type SettingsOf<T extends StandardSchemaV1> =
  unknown extends StandardSchemaV1.InferOutput<T>
    ? unknown
    : { settings: StandardSchemaV1.InferOutput<T> };

/** A definition with a Standard Schema, which validates the arguments and gives them their type. */
export interface InputToolDefinition<
  S extends StandardSchemaV1,
  C extends ToolCapabilities,
  T extends StandardSchemaV1 = StandardSchemaV1,
> extends ToolBase<StandardSchemaV1.InferOutput<S>, T> {
  /** Parses the arguments before `execute`, e.g. `z.object({ city: z.string() })`. */
  input: S;
  /** The JSON Schema that the model sees. Needed only if it can't be derived from `input`. */
  schema?: Record<string, unknown>;
  capabilities: C & NoOther<C>;
  /** Runs a call. `args` are what `input` returned for the model's arguments. */
  execute(
    args: StandardSchemaV1.InferOutput<S>,
    ctx: ToolTurn & SettingsOf<T> & AccessorsFor<C> & Undeclared<RemediesFor<C>>,
  ): Promise<ToolResult>;
}

/**
 * A definition with plain JSON Schema. The model sees the schema; the tool itself does not check
 * arguments against it.
 */
export interface SchemaToolDefinition<
  TArgs,
  C extends ToolCapabilities,
  T extends StandardSchemaV1 = StandardSchemaV1,
> extends ToolBase<TArgs, T> {
  schema: Record<string, unknown>;
  input?: never;
  capabilities: C & NoOther<C>;
  /** Runs a call. `args` are checked only if the registry has `checkSchema`. */
  execute(
    args: TArgs,
    ctx: ToolTurn & SettingsOf<T> & AccessorsFor<C> & Undeclared<RemediesFor<C>>,
  ): Promise<ToolResult>;
}

/** A definition with an explicit type of the arguments. `ctx` is the whole `ToolContext`. */
export interface PlainToolDefinition<TArgs> extends ToolBase<TArgs, StandardSchemaV1> {
  schema: Record<string, unknown>;
  input?: never;
  capabilities: ToolCapabilities;
  /** Runs a call. `args` are checked only if the registry has `checkSchema`. */
  execute(args: TArgs, ctx: ToolContext): Promise<ToolResult>;
}

// The names that all large model providers accept.
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Makes a tool from its definition.
 *
 * Give `input`, a Standard Schema such as one of Zod 4, or `schema`, plain JSON Schema. With
 * `input`, the tool derives the JSON Schema that the model sees, and parses the arguments before
 * `execute`. It answers invalid arguments with `input_invalid` and names every issue with its path.
 * With `schema`, a runtime of `wiring` checks the arguments, and so does a registry that has
 * `checkSchema`.
 *
 * The type of `ctx` has the accessors that `capabilities` give, and no others. With an explicit
 * type argument, `defineTool<Args>({ schema, … })`, it is `ToolContext`. When a declared accessor
 * is missing at run time, the tool answers `not_available` and `execute` does not run.
 *
 * With `settings`, an operator can configure this tool for each personality. `execute` gets the
 * parsed settings as `ctx.settings`.
 *
 * @param definition name, description, input, capabilities and `execute`
 * @returns the tool; register it in a tool registry
 * @throws `TOOL_INVALID` for a name that model providers refuse, an empty description, missing
 * `capabilities`, no `execute`, a `maxResultChars` or `timeoutMs` that is not above 0, neither
 * `input` nor `schema`, a misnamed property (`inputSchema` for `input`), an `input` or `settings`
 * that can't be written as the JSON Schema of an object, or `settings` that refuse `{}`
 * @example
 * ```ts
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'Look up the current weather of a city.',
 *   input: z.object({ city: z.string() }),
 *   capabilities: { network: { allowedHosts: ['wttr.in'] } },
 *   async execute({ city }, ctx) {
 *     const url = `https://wttr.in/${encodeURIComponent(city)}?format=3`;
 *     const response = await ctx.scopedFetch.fetch(url, { signal: ctx.abortSignal });
 *     return response.ok ? ok(await response.text()) : err(`HTTP ${response.status}`);
 *   },
 * });
 * ```
 */
export function defineTool<
  C extends ToolCapabilities,
  TArgs = unknown,
  T extends StandardSchemaV1 = StandardSchemaV1,
>(definition: SchemaToolDefinition<TArgs, C, T>): Tool<TArgs>;
export function defineTool<TArgs>(definition: PlainToolDefinition<TArgs>): Tool<TArgs>;
// Of several overloads that do not fit, TypeScript tells what is wrong with the last one, and most tools have `input`.
export function defineTool<
  S extends StandardSchemaV1,
  C extends ToolCapabilities,
  T extends StandardSchemaV1,
>(definition: InputToolDefinition<S, C, T>): Tool<StandardSchemaV1.InferOutput<S>>;
export function defineTool(
  definition: Omit<AnyTool, 'schema' | 'input' | 'settings' | 'execute'> & {
    // biome-ignore lint/suspicious/noExplicitAny: each overload says which arguments and context there are
    execute(args: any, ctx: any): Promise<ToolResult>;
    schema?: Record<string, unknown>;
    input?: StandardSchemaV1 | undefined;
    settings?: StandardSchemaV1 | undefined;
  },
): AnyTool {
  assertDefinition(definition);
  const { input, schema, settings, ...rest } = definition;
  const base = {
    ...rest,
    ...(settings !== undefined && { settings: toolSettings(rest.name, settings) }),
  };
  const { name } = base;
  const findMissing = missingAccessorCheck(name, base.capabilities);
  const run: AnyTool['execute'] = (args, ctx) => {
    const missing = findMissing?.(ctx);
    if (missing !== undefined) return Promise.resolve(err(missing, 'not_available'));
    return base.execute(args, ctx);
  };

  if (input === undefined) {
    if (schema === undefined)
      throw invalid(
        name,
        'has neither `input` nor `schema`; write `input` for a Standard Schema such as one of Zod, or `schema` for JSON Schema',
      );
    return { ...base, schema, execute: findMissing === undefined ? base.execute : run };
  }

  const parse = parserOf(input);
  return {
    ...base,
    schema: schema ?? jsonSchemaOf(name, input),
    input: { parse, run },
    async execute(args: unknown, ctx) {
      const parsing = parse(args);
      // Most schemas parse at once, and an await would cost as much as the parsing.
      const parsed = parsing instanceof Promise ? await parsing : parsing;
      return parsed.ok ? run(parsed.args, ctx) : err(parsed.error, 'input_invalid');
    },
  };
}

function parserOf(schema: StandardSchemaV1): ToolInput<unknown>['parse'] {
  const standard = schema['~standard'];
  const settle = (
    result: StandardSchemaV1.Result<unknown>,
    args: unknown,
  ): ToolInputResult<unknown> =>
    result.issues === undefined
      ? { ok: true, args: result.value }
      : { ok: false, error: describeIssues(result.issues, args) };
  return (args) => {
    const result = standard.validate(args);
    return result instanceof Promise
      ? result.then((settled) => settle(settled, args))
      : settle(result, args);
  };
}

/** Checks what the types ensure, for tools that are defined in plain JavaScript. */
function assertDefinition(definition: {
  name: unknown;
  description: unknown;
  capabilities: unknown;
  execute: unknown;
  input?: unknown;
  maxResultChars?: unknown;
  timeoutMs?: unknown;
}): void {
  if (typeof definition !== 'object' || definition === null) {
    throw invalid('a tool', 'has no definition; give an object with its name and the rest');
  }
  const { name, description, capabilities, execute, input } = definition;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    throw invalid(
      JSON.stringify(name) ?? 'a tool',
      'has a name that model providers refuse; use 1 to 64 letters, digits, `_` and `-`',
    );
  }
  const misnamed = misnamedToolProperties(definition);
  if (misnamed.length > 0) throw invalid(name, `can not be defined: ${misnamed.join('; ')}`);
  if (typeof description !== 'string' || description.trim() === '') {
    throw invalid(
      name,
      'has no description; write the paragraph that tells the model when to call',
    );
  }
  if (typeof capabilities !== 'object' || capabilities === null) {
    throw invalid(name, 'has no `capabilities`; declare `{}` if it reaches nothing outside');
  }
  if (typeof execute !== 'function') throw invalid(name, 'has no `execute` function');
  for (const limit of ['maxResultChars', 'timeoutMs'] as const) {
    const value = definition[limit];
    if (value === undefined || (typeof value === 'number' && value > 0)) continue;
    throw invalid(
      name,
      `has a \`${limit}\` that is no number above 0; leave it out for the default`,
    );
  }
  if (input !== undefined && !isStandardSchema(input)) {
    throw invalid(
      name,
      'has an `input` that is not a Standard Schema; write one, as in z.object({ … }) of Zod, or JSON Schema as `schema`',
    );
  }
}

function invalid(name: string, problem: string): EthosError {
  return new EthosError('TOOL_INVALID', `${name} ${problem}`);
}
