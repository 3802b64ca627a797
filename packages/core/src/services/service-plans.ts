import { isDeepStrictEqual } from 'node:util';
import type { ServiceDeclaration, ToolCapabilities } from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import { CapabilityPlan } from '../capability-resolver.js';

const MAX_PLANS = 256;

/**
 * The plans of services by name. A service that is opened again keeps its first plan. Where its
 * roots lead was looked up then, so a root that was replaced by a link later opens nothing new.
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
    // A service may have the name of a tool. The prefix gives it a store of its own.
    const plan = new CapabilityPlan(`service:${name}`, capabilities, this.#backends);
    return { capabilities, plan };
  }
}
