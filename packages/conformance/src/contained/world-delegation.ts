import {
  CapabilityError,
  type DelegatedTask,
  type DelegationCaller,
  type DelegationInfo,
  type DelegationProvider,
  type QuarantinedValue,
} from '@ethosagent/types';

/** Answers tasks at once with a short text. Only the session that gave a task sees it. */
export class WorldDelegation implements DelegationProvider {
  readonly #token: () => string;
  readonly #started: Array<{ sessionId: string; info: DelegationInfo }> = [];
  #count = 0;

  /**
   * Creates a provider without tasks.
   * @param token returns a token of the world, which is part of every answer and must not reach
   * another session
   */
  constructor(token: () => string) {
    this.#token = token;
  }

  async run(
    { personalityId, signal }: DelegationCaller,
    { prompt }: DelegatedTask,
    onProgress?: (message: string) => void,
  ): Promise<DelegationInfo> {
    signal.throwIfAborted();
    onProgress?.('reads a file');
    const now = Date.now();
    return {
      id: `task-${++this.#count}`,
      state: 'done',
      prompt,
      ...(personalityId !== undefined && { personalityId }),
      startedAt: now,
      endedAt: now,
      steps: 1,
      calls: 1,
      costUsd: 0,
      untrusted: true,
      result: `The task is done. Its token is ${this.#token()}.`,
    };
  }

  async start(caller: DelegationCaller, task: DelegatedTask): Promise<DelegationInfo> {
    const info = await this.run(caller, task);
    this.#started.push({ sessionId: caller.sessionId, info });
    return info;
  }

  async list({ sessionId }: DelegationCaller): Promise<DelegationInfo[]> {
    return this.#started.filter((task) => task.sessionId === sessionId).map(({ info }) => info);
  }

  async get(caller: DelegationCaller, id: string): Promise<DelegationInfo> {
    const found = (await this.list(caller)).find((info) => info.id === id);
    if (found !== undefined) return found;
    throw new CapabilityError('DELEGATION_NOT_FOUND', 'there is no such task', 'no such task');
  }

  async read({ signal }: DelegationCaller): Promise<QuarantinedValue> {
    signal.throwIfAborted();
    return { ok: true, value: true };
  }

  cancel(caller: DelegationCaller, id: string): Promise<DelegationInfo> {
    return this.get(caller, id);
  }
}
