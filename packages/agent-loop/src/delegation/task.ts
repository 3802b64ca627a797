import type { DelegationInfo, DelegationState, SessionRef } from '@ethosagent/types';
import type { AgentEvent } from '../api.js';

/** The origin of a task. */
export interface TaskOrigin {
  /** The turn that gave it. Only its identity is used. */
  turn: object;
  /** The session of that turn. */
  parent: SessionRef;
  /** Whether it outlives its call, and can be looked up later. */
  isBackground: boolean;
}

/** A task that this process began. */
export class Task {
  readonly turn: object;
  readonly parent: SessionRef;
  readonly isBackground: boolean;
  readonly #controller = new AbortController();
  readonly #info: DelegationInfo;
  #settle: () => void = () => {};
  /** Resolves when the task has ended and its end is recorded. */
  readonly ended = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(
    begun: Pick<DelegationInfo, 'id' | 'prompt' | 'startedAt'>,
    { turn, parent, isBackground }: TaskOrigin,
  ) {
    this.#info = { ...begun, state: 'running', steps: 0, calls: 0, costUsd: 0, untrusted: true };
    this.turn = turn;
    this.parent = parent;
    this.isBackground = isBackground;
  }

  get id(): string {
    return this.#info.id;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  info(): DelegationInfo {
    return { ...this.#info };
  }

  runsUnder(personalityId: string): void {
    this.#info.personalityId = personalityId;
  }

  /** @param why the reason for those who ask for the result */
  cancel(why: string): void {
    this.#controller.abort(new DOMException(why, 'AbortError'));
  }

  follow(event: AgentEvent): void {
    const info = this.#info;
    if (event.type === 'step') info.steps = Math.max(info.steps, event.step);
    if (event.type === 'tool_end') info.calls += 1;
    if (event.type === 'usage') info.costUsd = event.turn.costUsd;
    if (event.type === 'done') {
      info.steps = event.steps;
      info.calls = event.calls;
      info.costUsd = event.usage.costUsd;
    }
  }

  /** Sets the outcome. Only the first call counts. */
  finish(
    state: Exclude<DelegationState, 'running'>,
    endedAt: number,
    outcome: Pick<DelegationInfo, 'result' | 'error' | 'cause'>,
  ): void {
    if (this.#info.state !== 'running') return;
    Object.assign(this.#info, { state, endedAt }, outcome);
  }

  /** Marks that the task has read nothing untrusted. Until then, it counts as tainted. */
  clear(): void {
    this.#info.untrusted = false;
  }

  settle(): void {
    this.#settle();
  }
}
