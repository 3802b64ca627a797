import { isDeepStrictEqual } from 'node:util';
import type { ServiceDeclaration, ToolCapabilities } from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import { CapabilityPlan } from '../capability-resolver.js';

const MAX_PLANS = 256;

/**
 * The plans of services by name. One that is opened again has the plan that it had: where its roots
 * lead was looked up then, and a root that has become a link since leads nowhere new.
 */
export class ServicePlans {
  readonly #backends: CapabilityBackends;
  readonly #plans = new Map<string, { capabilities: ToolCapabilities; plan: CapabilityPlan }>();

  constructor(backends: CapabilityBackends) {
    this.#backends = backends;
  }

  of({ name, capabilities }: ServiceDeclaration): CapabilityPlan {
    const known = this.#plans.get(name);
    this.#plans.delete(name);
    const isSame = known !== undefined && isDeepStrictEqual(known.capabilities, capabilities);
    const entry = isSame ? known : this.#create(name, capabilities);
    this.#plans.set(name, entry);
    const [oldest] = this.#plans.keys();
    if (this.#plans.size > MAX_PLANS && oldest !== undefined) this.#plans.delete(oldest);
    return entry.plan;
  }

  #create(name: string, declared: ToolCapabilities) {
    const capabilities = structuredClone(declared);
    // A service is no tool, also where it has the name of one: their stores are two.
    const plan = new CapabilityPlan(`service:${name}`, capabilities, this.#backends);
    return { capabilities, plan };
  }
}
