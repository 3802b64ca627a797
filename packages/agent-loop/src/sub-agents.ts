import type { UntrustedFiles } from '@ethosagent/core';
import type { DelegationProvider, SessionRef } from '@ethosagent/types';
import type { AgentEvent, AgentLimits, AgentLoopOptions, TurnClaim, TurnInput } from './api.js';
import type { Begun, ChildTurn, DelegationPlace } from './delegation/child-turn.js';
import { Delegations } from './delegation/delegations.js';
import { imagePlan } from './images.js';
import { askReader } from './model/ask-reader.js';
import type { RetryPlan } from './options.js';
import type { Turn } from './turn.js';

/** Whose sub-agent an agent is. */
export interface AgentPlace extends DelegationPlace {
  delegations: Delegations;
}

/** Runs one turn of an agent with other options. */
export type RunAgent = (
  options: AgentLoopOptions,
  place: AgentPlace,
  input: TurnInput,
) => AsyncIterable<AgentEvent>;

const AS_SUB_AGENT =
  'You are a sub-agent: another agent gave you the task, and gets your last message as the answer. Nobody answers questions; where something is missing, say so in the answer.';

/** The sub-agents of an agent. All levels of them are counted with the agent at the top. */
export class SubAgents {
  readonly #options: AgentLoopOptions;
  readonly #limits: AgentLimits;
  readonly #runAgent: RunAgent;
  readonly #place: AgentPlace | undefined;
  readonly #delegations: Delegations;

  /** @throws `CONFIG_INVALID` for a limit that is no whole number */
  constructor(
    options: AgentLoopOptions,
    runAgent: RunAgent,
    {
      limits,
      place,
      retries,
      files,
    }: {
      limits: AgentLimits;
      place: AgentPlace | undefined;
      retries: RetryPlan;
      files: UntrustedFiles;
    },
  ) {
    const { sessions, tools, approve, delegation, now = Date.now } = options;
    this.#options = options;
    this.#limits = limits;
    this.#runAgent = runAgent;
    this.#place = place;
    this.#delegations =
      place?.delegations ??
      new Delegations({
        sessions,
        runChild: (child) => this.#runChild(child),
        files,
        images: imagePlan(options),
        askReader: (prompt, turn) =>
          askReader(prompt, {
            options,
            retries,
            remainingMs: () => turn.remaining().ms ?? Number.POSITIVE_INFINITY,
            charge: (usage) => turn.charge(usage),
            now,
          }),
        endToolsOf: async (sessionId) => tools.endSession?.(sessionId),
        ...(approve !== undefined && { approve }),
        ...(delegation !== undefined && { limits: delegation }),
        now,
      });
  }

  /**
   * @param ref the session of the turn, as it is stored
   * @param current the turn as it runs now: a task in the background may outlive a pause of it
   */
  forTurn(turn: Turn, ref: SessionRef, current: () => Turn): DelegationProvider {
    const { tools, identity } = this.#options;
    return this.#delegations.forTurn({
      ref,
      personalityId: ref.personalityId ?? '',
      tools,
      // Whose memory and sessions: under another personality they would be others.
      identity: { ...identity, memoryScopeId: ref.scopeId },
      limits: this.#limits,
      remaining: () => current().remaining(),
      charge: (usage) => current().charge(usage),
      sources: () => turn.sources,
      grantsOf: this.#place?.grantsOf ?? ref.id,
      claim: heldBy(this.#place?.claim ?? turn.claim),
      depth: this.#place?.depth ?? 0,
      begun: this.#place?.begun ?? begunOf(current),
    });
  }

  /** Ends the sub-agents of a session, and waits for it. */
  endSession(sessionId: string): Promise<void> {
    return this.#delegations.endSession(sessionId);
  }

  /** Ends all sub-agents, and waits for it. */
  close(): Promise<void> {
    return this.#delegations.close();
  }

  #runChild(child: ChildTurn): AsyncIterable<AgentEvent> {
    const { instructions, ...shared } = this.#options;
    const { sessionId, prompt, isTainted, abortSignal, depth, begun, grantsOf, claim } = child;
    const options: AgentLoopOptions = {
      ...shared,
      instructions:
        instructions === undefined ? AS_SUB_AGENT : `${instructions}\n\n${AS_SUB_AGENT}`,
      tools: child.tools,
      personality: child.personalityId,
      identity: { ...child.identity, sessionKey: child.sessionKey },
      limits: child.limits,
      approve: child.approve,
    };
    const place = { delegations: this.#delegations, depth, begun, grantsOf, claim };
    return this.#runAgent(options, place, { sessionId, prompt, untrusted: isTainted, abortSignal });
  }
}

function begunOf(turn: () => Turn): Begun {
  return {
    get count() {
      return turn().begun.count;
    },
    set count(count) {
      turn().begun.count = count;
    },
    note: () => turn().begun.note(),
  };
}

/** The epoch is that of the session at the top: the sessions of sub-agents are held by nobody. */
function heldBy(
  claim: Pick<TurnClaim, 'assertHeld'> | undefined,
): Pick<TurnClaim, 'assertHeld'> | undefined {
  return claim && { assertHeld: () => claim.assertHeld() };
}
