import {
  isListOf,
  isObject,
  isString,
  type OptionNames,
  type OptionValues,
  shorten,
  unknownOption,
  wrongOption,
} from '@ethosagent/policy';
import {
  CapabilityError,
  type DelegatedTask,
  type DelegationInfo,
  type DelegationProvider,
  EthosError,
  type QuarantinedRead,
  type QuarantinedValue,
  type ScopedDelegation,
} from '@ethosagent/types';
import { type AccessAsked, type AccessScope, type Allow, recordAccess, textOf } from '../access.js';
import { copyPlain } from '../plain.js';
import type { DelegatingCall } from '../turn-host.js';

export interface ScopedDelegationOptions {
  sessionId: string;
  personalityId: string | undefined;
  toolCallId?: string;
  /** Whether tasks may outlive the call. */
  mayStart: boolean;
  scope: AccessScope;
}

const MAX_TARGET_CHARS = 200;

/** Sub-agents, for the session of one call. */
export class ScopedDelegationImpl implements ScopedDelegation {
  readonly #provider: DelegationProvider;
  readonly #options: ScopedDelegationOptions;

  constructor(provider: DelegationProvider, options: ScopedDelegationOptions) {
    this.#provider = provider;
    this.#options = options;
  }

  run(task: DelegatedTask, onProgress?: (message: string) => void): Promise<DelegationInfo> {
    const told = this.#withoutSecrets(task, 'prompt');
    return this.#recorded('run', told?.prompt, (allow) => {
      assertTask(told);
      allow();
      return this.#provider.run(this.#caller(), told, onProgress);
    });
  }

  start(task: DelegatedTask): Promise<DelegationInfo> {
    const told = this.#withoutSecrets(task, 'prompt');
    return this.#recorded('start', told?.prompt, (allow) => {
      assertTask(told);
      if (!this.#options.mayStart) {
        throw new CapabilityError(
          'DELEGATION_REFUSED',
          'the tool does not declare delegation.background; run the task to its end instead',
          'background not declared',
        );
      }
      allow();
      return this.#provider.start(this.#caller(), told);
    });
  }

  list(): Promise<DelegationInfo[]> {
    return this.#recorded('list', '*', (allow) => {
      allow();
      return this.#provider.list(this.#caller());
    });
  }

  get(id: string, opts?: { waitMs?: number }): Promise<DelegationInfo> {
    return this.#recorded('get', id, (allow) => {
      assertId(id);
      if (opts !== undefined) assertKnown('get', opts, { names: GET, values: GET_VALUES });
      allow();
      return this.#provider.get(this.#caller(), id, opts);
    });
  }

  cancel(id: string): Promise<DelegationInfo> {
    return this.#recorded('cancel', id, (allow) => {
      assertId(id);
      allow();
      return this.#provider.cancel(this.#caller(), id);
    });
  }

  read(asked: QuarantinedRead): Promise<QuarantinedValue> {
    return this.#recorded('read', asked?.tool, (allow) => {
      assertKnown('read', asked, { names: READ, values: READ_VALUES });
      if (this.#provider.read === undefined) {
        throw new CapabilityError(
          'DELEGATION_REFUSED',
          'this host has no model that reads in quarantine; go on without that content, and tell the user',
          'no reader',
        );
      }
      allow();
      return this.#provider.read(this.#caller(), this.#toRead(asked));
    });
  }

  /** The reader sees the question and the schema, and never the arguments. */
  #toRead(asked: QuarantinedRead): QuarantinedRead {
    const { redactor } = this.#options.scope;
    if (redactor === undefined) return asked;
    const copy = copyPlain(asked?.schema, (text) => redactor.redact(text));
    // An empty schema is refused where it is compiled.
    const schema = copy.ok ? Object(copy.value) : {};
    return { ...this.#withoutSecrets(asked, 'question'), schema };
  }

  /** A model reads the text, and a session keeps it. */
  #withoutSecrets<K extends string, T extends Record<K, string>>(asked: T, key: K): T {
    const { redactor } = this.#options.scope;
    const text: unknown = asked?.[key];
    if (redactor === undefined || typeof text !== 'string') return asked;
    return { ...asked, [key]: redactor.redact(text) };
  }

  #recorded<T>(operation: string, target: unknown, run: (allow: Allow) => Promise<T>): Promise<T> {
    const text = textOf(target);
    const access: AccessAsked = {
      capability: 'delegation',
      operation,
      target: shorten(text, MAX_TARGET_CHARS),
      rule: 'delegation declared',
    };
    return recordAccess(this.#options.scope, access, async (allow) => run(allow));
  }

  #caller(): DelegatingCall {
    const { sessionId, personalityId, toolCallId, scope } = this.#options;
    const { redactor } = scope;
    return {
      sessionId,
      ...(personalityId !== undefined && { personalityId }),
      ...(toolCallId !== undefined && { toolCallId }),
      signal: scope.signal,
      ...(redactor !== undefined && { secrets: redactor }),
    };
  }
}

const TASK: OptionNames<DelegatedTask> = {
  prompt: true,
  personality: true,
  tools: true,
  maxSteps: true,
  timeoutMs: true,
};
const isAboveZero = (value: unknown) => typeof value === 'number' && value > 0;
const TASK_VALUES: OptionValues<DelegatedTask> = {
  prompt: [isString, 'a text'],
  personality: [isString, 'the id of a personality'],
  tools: [isListOf(isString), 'a list of names of tools'],
  maxSteps: [isAboveZero, 'a number above zero'],
  timeoutMs: [isAboveZero, 'milliseconds above zero'],
};
const GET: OptionNames<{ waitMs?: number }> = { waitMs: true };
const GET_VALUES: OptionValues<{ waitMs?: number }> = {
  waitMs: [(value) => typeof value === 'number' && value >= 0, 'milliseconds from zero'],
};
const READ: OptionNames<QuarantinedRead> = { tool: true, args: true, question: true, schema: true };
const READ_VALUES: OptionValues<QuarantinedRead> = {
  tool: [isString, 'the name of a tool'],
  question: [isString, 'a text'],
  schema: [isObject, 'a JSON Schema'],
};

/** A tool may be plain JavaScript: a misspelt `tools` would give all of them. @throws `VALUE_INVALID` */
function assertTask(task: DelegatedTask): void {
  assertKnown('a task', task, { names: TASK, values: TASK_VALUES });
  if (task.prompt === undefined) throw invalid('a task needs a prompt');
}

/** @throws `VALUE_INVALID` */
function assertKnown<T extends object>(
  of: string,
  given: T,
  { names, values }: { names: OptionNames<T>; values: OptionValues<T> },
): void {
  const problem =
    isObject(given) && !(given instanceof Promise)
      ? (unknownOption(given, names) ?? wrongOption<T>(given, values))
      : `give an object with ${Object.keys(names).join(', ')}`;
  if (problem !== undefined) throw invalid(`${of}: ${problem}`);
}

/** @throws `VALUE_INVALID` */
function assertId(id: unknown): void {
  if (typeof id !== 'string') throw invalid('the id of a task must be a text, as start() returned');
}

function invalid(problem: string): EthosError {
  return new EthosError('VALUE_INVALID', problem);
}
