import { errorCodeOf, type ServiceScope } from '@ethosagent/types';
import { secretRef } from './declaration.js';
import { expandTemplate, type McpTemplate, type McpVariable } from './templates.js';

/** What `Variables` resolves templates with, beside the secrets. */
interface VariableSources {
  /** The variables of the host. */
  variables: ReadonlyMap<string, string>;
  /** The descriptions of the inputs of the file. */
  inputs: ReadonlyMap<string, string>;
}

/** Resolves the templates of a server, and collects the variables that have no value. */
export class Variables {
  /** The variables without a value, and how to set them. */
  readonly missing: string[] = [];
  readonly #server: string;
  readonly #scope: ServiceScope;
  readonly #host: ReadonlyMap<string, string>;
  readonly #inputs: ReadonlyMap<string, string>;

  constructor(server: string, scope: ServiceScope, { variables, inputs }: VariableSources) {
    this.#server = server;
    this.#scope = scope;
    this.#host = variables;
    this.#inputs = inputs;
  }

  /** Returns the text of a template; empty when a variable has no value. */
  text(template: McpTemplate): Promise<string> {
    return expandTemplate(template, (variable) => this.#value(variable, false));
  }

  /** Returns the texts of templates, by key. */
  async texts(templates: ReadonlyMap<string, McpTemplate>): Promise<Map<string, string>> {
    return this.#all(templates, false);
  }

  /** Returns the texts of headers, with handles instead of the secrets. */
  async headers(templates: ReadonlyMap<string, McpTemplate>): Promise<Map<string, string>> {
    return this.#all(templates, true);
  }

  async #all(templates: ReadonlyMap<string, McpTemplate>, asHandles: boolean) {
    const texts = new Map<string, string>();
    for (const [key, template] of templates) {
      const expand = (variable: McpVariable) => this.#value(variable, asHandles);
      texts.set(key, await expandTemplate(template, expand));
    }
    return texts;
  }

  async #value(variable: McpVariable, asHandle: boolean): Promise<string> {
    if (variable.kind === 'host') {
      const value = this.#host.get(variable.name);
      if (value === undefined) this.#lacks(`\${${variable.name}}, which the host does not give`);
      return value ?? '';
    }
    const ref = secretRef(this.#server, variable.name);
    const { secretsResolver } = this.#scope;
    try {
      if (secretsResolver === undefined)
        return this.#absent(variable, ref, 'the host has no secrets');
      return asHandle && variable.fallback === undefined
        ? await secretsResolver.handle(ref)
        : await secretsResolver.get(ref);
    } catch (error) {
      if (errorCodeOf(error) !== 'SECRET_NOT_FOUND') throw error;
      // The message of the store is for people, e.g. that the secret is missing or its file is open to others.
      const said = error instanceof Error ? error.message : '';
      const why = said.replace('SECRET_NOT_FOUND: ', '').replace(`${ref}: `, '');
      return this.#absent(variable, ref, why);
    }
  }

  #absent(
    { name, fallback }: { name: string; fallback?: string },
    ref: string,
    why: string,
  ): string {
    if (fallback !== undefined) return fallback;
    const asked = this.#inputs.get(name);
    const about = asked === undefined || asked === '' ? '' : ` (${asked})`;
    this.#lacks(`the secret ${ref}${about}: ${why}`);
    return '';
  }

  #lacks(what: string): void {
    if (!this.missing.includes(what)) this.missing.push(what);
  }
}
