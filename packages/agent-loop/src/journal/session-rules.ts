import type { EarlierRecord } from './earlier-records.js';
import { type AgentRecord, callsOf } from './records.js';

/**
 * Decides which record may come next in a session. The same rules apply to writing and to reading,
 * so that nothing is stored that the next reader would refuse.
 */
export class SessionRules {
  #turn = 0;
  #isOver = true;
  /** Calls without a result. */
  #open = new Set<string>();
  /** Calls without a result that tools made, each with the call whose tool made it. */
  #inner = new Map<string, string>();
  readonly #ids = new Set<string>();
  readonly #isKnown: (id: string) => boolean;

  constructor(isKnown: (id: string) => boolean = () => false) {
    this.#isKnown = isKnown;
  }

  /** Whether a call of the session has this id. */
  hasCall(id: string): boolean {
    return this.#ids.has(id) || this.#isKnown(id);
  }

  /** A copy that continues from this state. The original does not change. */
  fork(): SessionRules {
    const fork = new SessionRules((id) => this.hasCall(id));
    fork.#turn = this.#turn;
    fork.#isOver = this.#isOver;
    fork.#open = new Set(this.#open);
    fork.#inner = new Map(this.#inner);
    return fork;
  }

  /** Accepts a record. Returns `false`, and changes nothing, if it may not come next. */
  take(record: AgentRecord | EarlierRecord): boolean {
    if (record.kind === 'user') return this.#takeUser(record.turn);
    if (this.#isOver || record.turn !== this.#turn) return false;
    switch (record.kind) {
      case 'step':
        return this.#takeStep(callsOf(record).map(({ id }) => id));
      case 'started':
        return record.calls.every((id) => this.#open.has(id));
      case 'result':
        return this.#open.delete(record.call);
      case 'inner':
        if (!this.#open.has(record.parent) || this.#inner.has(record.call)) return false;
        this.#inner.set(record.call, record.parent);
        return true;
      case 'inner_result': {
        const parent = this.#inner.get(record.call);
        if (parent === undefined || !this.#open.has(parent)) return false;
        return this.#inner.delete(record.call);
      }
      case 'asked':
      case 'decided':
        return this.#open.has(record.call);
      case 'resumed':
      case 'delegated':
        return true;
      case 'context':
        // A call is never cleared without its answer.
        return this.#open.size === 0 && record.cleared.every((id) => this.hasCall(id));
      case 'images_refused':
        return this.#open.size === 0 && record.calls.every((id) => this.hasCall(id));
      case 'end':
        if (this.#open.size > 0) return false;
        this.#isOver = true;
        return true;
    }
  }

  #takeUser(turn: number): boolean {
    if (!this.#isOver || turn !== this.#turn + 1) return false;
    this.#turn = turn;
    this.#isOver = false;
    return true;
  }

  #takeStep(ids: readonly string[]): boolean {
    this.#inner.clear();
    const isNew = new Set(ids).size === ids.length && !ids.some((id) => this.hasCall(id));
    if (!isNew || this.#open.size > 0) return false;
    for (const id of ids) {
      this.#ids.add(id);
      this.#open.add(id);
    }
    return true;
  }
}
