import {
  EFFECTS,
  isFunction,
  isObject,
  isString,
  isThenable,
  nearestName,
  type OptionNames,
  type OptionValues,
  wrongOption,
} from '@ethosagent/policy';
import {
  type AnyTool,
  CAPABILITIES,
  type CapabilityValidationError,
  EthosError,
  misnamedToolProperties,
  type PersonalityConfig,
  type ServiceDeclaration,
  type ToolCapabilities,
} from '@ethosagent/types';
import type { CapabilityProblem } from './capabilities/capability-module.js';
import { CAPABILITY_MODULES } from './capabilities/index.js';
import { misspeltName } from './misspelt-name.js';

const FACTS = new Map<string, { readonly keys: readonly string[] | undefined }>(
  Object.entries(CAPABILITIES),
);

/** Modules in the order in which problems are listed. */
const MODULES = [...FACTS.keys()].flatMap(
  (key) => CAPABILITY_MODULES.find((module) => module.key === key) ?? [],
);

const KEYS_OF_SERVICES: readonly string[] = MODULES.flatMap(({ key, isForServices }) =>
  isForServices ? key : [],
);

/**
 * Every way in which a tool's declaration is malformed or exceeds the personality. Empty when it
 * fits. Nothing is thrown.
 *
 * @param tool its name and its declaration
 * @param personality its reach and its policies
 * @returns the problems, each with the name of the tool
 */
export function validateRegistration(
  tool: Pick<AnyTool, 'name' | 'capabilities'>,
  personality: Pick<PersonalityConfig, 'fs_reach' | 'safety'>,
): CapabilityValidationError[] {
  const declared = tool.capabilities;
  return [
    ...validateDeclaration(declared),
    ...MODULES.flatMap((module) => module.exceeding(declared, personality)),
  ].map((problem) => ({ tool: tool.name, ...problem }));
}

/**
 * Every way in which a declaration is malformed by itself, whatever the personality.
 *
 * @param declared the declaration of a tool
 * @returns the problems; empty for a well-formed one
 */
export function validateDeclaration(declared: ToolCapabilities): CapabilityProblem[] {
  return MODULES.flatMap((module) => module.malformed(declared));
}

/**
 * Checks the declarations of tools, as `validateDeclaration` does.
 *
 * @param tools those that a host is to have
 * @throws `TOOL_INVALID` with one line for every mistake
 */
export function assertDeclarations(tools: readonly AnyTool[]): void {
  const mistakes = tools.flatMap(
    (tool) =>
      toolShapeProblem(tool) ??
      validateDeclaration(tool.capabilities).map(
        ({ capability, message }) => `${tool.name}: ${capability}: ${message}`,
      ),
  );
  if (mistakes.length > 0) throw new EthosError('TOOL_INVALID', mistakes.join('\n'));
}

/** Why a tool can't be registered: the shape of its declaration is wrong. */
export function toolShapeProblem(tool: AnyTool): string | undefined {
  if (typeof tool !== 'object' || tool === null) return 'a tool is an object';
  if (Array.isArray(tool)) return 'a list is no tool; spread it: ...createFileTools()';
  if (typeof Object(tool).then === 'function') return 'a promise is no tool; await it';
  const { name, capabilities } = tool;
  if (typeof name !== 'string' || name === '') return 'a tool has a name';
  const [misnamed] = misnamedToolProperties(tool);
  if (misnamed !== undefined) return `${name}: ${misnamed}`;
  const misspelt = misspeltProperty(tool);
  if (misspelt !== undefined) return `${name}: ${misspelt}`;
  if (typeof tool.execute !== 'function') return `${name} has no execute function`;
  const wrong = valueProblem(tool);
  if (wrong !== undefined) return `${name}: ${wrong}`;
  return capabilitiesShapeProblem(name, capabilities);
}

const PROPERTIES: OptionNames<AnyTool> = {
  name: true,
  description: true,
  schema: true,
  toolset: true,
  maxResultChars: true,
  capabilities: true,
  execute: true,
  isAvailable: true,
  alwaysInclude: true,
  outputIsUntrusted: true,
  effects: true,
  timeoutMs: true,
  supportsDryRun: true,
  requiresApproval: true,
  settings: true,
  settingsKey: true,
  validateSchema: true,
  outputSchema: true,
  defer: true,
  returnDirect: true,
  idempotent: true,
  unconfined: true,
  input: true,
};

/** A misspelt property would take away a protection, as `requiresAproval` does. */
function misspeltProperty(tool: AnyTool): string | undefined {
  const slip = misspeltName(tool, Object.keys(PROPERTIES));
  return slip && `\`${slip.given}\` is no property of a tool; write \`${slip.meant}\``;
}

const BOOLEANS = [
  'alwaysInclude',
  'outputIsUntrusted',
  'supportsDryRun',
  'validateSchema',
  'defer',
  'returnDirect',
  'idempotent',
  'unconfined',
] as const satisfies readonly (keyof AnyTool)[];

const KINDS: OptionValues<AnyTool> = {
  description: [isString, 'a text'],
  toolset: [isString, 'a text'],
  isAvailable: [isFunction, 'a function that returns true or false'],
  settings: [(value) => isFunction(Object(value).parse), 'an object with `parse`'],
  input: [(value) => isObject(value) || isFunction(value), 'a Standard Schema, such as one of Zod'],
};

/** A value that is not understood would take away a protection, as a misspelt effect does. */
function valueProblem(tool: AnyTool): string | undefined {
  const { effects, requiresApproval } = tool;
  for (const name of BOOLEANS) {
    const value: unknown = tool[name];
    if (value !== undefined && typeof value !== 'boolean') return `${name} is true or false`;
  }
  if (!['undefined', 'boolean', 'function'].includes(typeof requiresApproval)) {
    return 'requiresApproval is true, false, or a function';
  }
  const wrong = wrongOption(tool, KINDS);
  if (wrong !== undefined) return wrong;
  if (effects === undefined) return undefined;
  if (!Array.isArray(effects)) return `effects is a list of ${EFFECTS.join(', ')}`;
  const other: unknown = effects.find((effect) => !EFFECTS.includes(effect));
  if (other === undefined) return undefined;
  return `effects: ${JSON.stringify(other)} is none; ${meantOf(String(other), EFFECTS)}`;
}

/** Why a service can't be opened. */
export function serviceProblem(declaration: ServiceDeclaration): string | undefined {
  if (typeof declaration !== 'object' || declaration === null) return 'a service is an object';
  const { name, capabilities } = declaration;
  if (typeof name !== 'string' || name === '') return 'a service has a name';
  const wrong = capabilitiesShapeProblem(name, capabilities);
  if (wrong !== undefined) return wrong;
  const declared = declaredKeys(capabilities);
  const other = declared.find((key) => !KEYS_OF_SERVICES.includes(key));
  if (other !== undefined) {
    return `${name}: capabilities.${other} is not for a service; there are ${KEYS_OF_SERVICES.join(', ')}`;
  }
  const [malformed] = validateDeclaration(capabilities);
  return malformed && `${name}: ${malformed.capability}: ${malformed.message}`;
}

function capabilitiesShapeProblem(name: string, declared: ToolCapabilities): string | undefined {
  if (typeof declared !== 'object' || declared === null) {
    return `${name} declares no capabilities; a tool that reaches nothing declares {}`;
  }
  if (isThenable(declared)) return `${name}: capabilities are a promise; await it`;
  const unknown = unknownKey(declared);
  if (unknown !== undefined) return `${name}: ${unknown}`;
  for (const module of MODULES) {
    const wrong = module.shapeProblem(declared);
    if (wrong !== undefined) return `${name}: capabilities.${wrong}`;
  }
  for (const [capability, declaration] of Object.entries(declared)) {
    const { keys } = FACTS.get(capability) ?? {};
    if (keys === undefined || declaration === undefined || typeof declaration === 'object')
      continue;
    return `${name}: capabilities.${capability} is an object with ${keys.join(', ')}`;
  }
  return undefined;
}

function declaredKeys(capabilities: ToolCapabilities): string[] {
  return Object.entries(capabilities).flatMap(([key, declared]) =>
    declared === undefined ? [] : key,
  );
}

/** A misspelt capability would be ignored without a message, so it is an error. */
function unknownKey(declared: object): string | undefined {
  for (const [capability, declaration] of Object.entries(declared)) {
    const facts = FACTS.get(capability);
    if (facts === undefined) {
      return `capabilities.${capability} is not a capability; ${meantOf(capability, [...FACTS.keys()])}`;
    }
    const { keys } = facts;
    if (keys === undefined || typeof declaration !== 'object' || declaration === null) continue;
    const other = Object.keys(declaration).find((key) => !keys.includes(key));
    if (other !== undefined) {
      return `capabilities.${capability}.${other} is not a key; ${meantOf(other, keys)}`;
    }
  }
  return undefined;
}

function meantOf(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  const hint = near === undefined ? '' : `did you mean "${near}"? `;
  return `${hint}there are ${known.join(', ')}`;
}
