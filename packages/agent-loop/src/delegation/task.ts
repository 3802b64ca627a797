import type { DelegationInfo, DelegationState, SessionRef } from '@ethosagent/types';
import type { AgentEvent } from '../api.js';

/** Whose task it is. */
export interface TaskOrigin {
  /** The turn that gave it, to tell it from others. */
  turn: object;
  /** Its session. */
  parent: SessionRef;
  /** Whether it outlives its call, and is to be found later. */
  isBackground: boolean;
}

/** One that was begun in this process. */
export class Task {
  readonly turn: object;
  readonly parent: SessionRef;
  readonly isBackground: boolean;
  readonly #controller = new AbortController();
  readonly #info: DelegationInfo;
  #settle: () => void = () => {};
  /** Resolves when it has ended, and that is written down. */
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

  /** As it stands now. */
  info(): DelegationInfo {
    return { ...this.#info };
  }

  runsUnder(personalityId: string): void {
    this.#info.personalityId = personalityId;
  }

  /** @param why what whoever asks for the result is told */
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

  /** What came out; the first to say so is right. */
  finish(
    state: Exclude<DelegationState, 'running'>,
    endedAt: number,
    outcome: Pick<DelegationInfo, 'result' | 'error' | 'cause'>,
  ): void {
    if (this.#info.state !== 'running') return;
    Object.assign(this.#info, { state, endedAt }, outcome);
  }

  /** It has read nothing untrusted; until somebody says so, it may have. */
  clear(): void {
    this.#info.untrusted = false;
  }

  settle(): void {
    this.#settle();
  }
}
