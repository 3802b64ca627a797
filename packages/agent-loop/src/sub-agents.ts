import type { UntrustedFiles } from '@ethosagent/core';
import type { DelegationProvider, SessionRef } from '@ethosagent/types';
import type { AgentEvent, AgentLimits, AgentLoopOptions, TurnClaim, TurnInput } from './api.js';
import type { Begun, ChildTurn, DelegationPlace } from './delegation/child-turn.js';
import { Delegations } from './delegation/delegations.js';
import { isUsedUp } from './delegation/run-task.js';
import { imagePlan } from './images.js';
import { askReader } from './model/ask-reader.js';
import type { RetryPlan } from './options.js';
import type { Turn } from './turn.js';

/** The place of an agent that is a sub-agent. */
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

/** The sub-agents of an agent. Those on all levels count for the agent at the top. */
export class SubAgents {
  readonly #options: AgentLoopOptions;
  readonly #limits: AgentLimits;
  readonly #runAgent: RunAgent;
  readonly #place: AgentPlace | undefined;
  readonly #delegations: Delegations;

  /** @throws `CONFIG_INVALID` for a limit that is not a whole number */
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
            remainingMs: () =>
              isUsedUp(turn) ? 0 : (turn.remaining().ms ?? Number.POSITIVE_INFINITY),
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
   * @param current gives the turn as it runs now, since a background task may outlive a pause of
   * the turn
   */
  forTurn(turn: Turn, ref: SessionRef, current: () => Turn): DelegationProvider {
    const { tools, identity } = this.#options;
    return this.#delegations.forTurn({
      ref,
      personalityId: ref.personalityId ?? '',
      tools,
      // The same memory and sessions as the turn, which would change with the personality.
      identity: { ...identity, memoryScopeId: ref.scopeId },
      limits: this.#limits,
      remaining: () => current().remaining(),
      charge: (usage) => current().charge(usage),
      beginRead: () => current().beginRead(),
      paid: (costUsd) => current().paid(costUsd),
      attachments: turn.attachments,
      sources: () => turn.sources,
      grantsOf: this.#place?.grantsOf ?? ref.id,
      claim: heldBy(this.#place?.claim ?? turn.claim),
      depth: this.#place?.depth ?? 0,
      begun: this.#place?.begun ?? begunOf(current),
    });
  }

  /** Ends the sub-agents of a session, and waits for their end. */
  endSession(sessionId: string): Promise<void> {
    return this.#delegations.endSession(sessionId);
  }

  /** Ends all sub-agents, and waits for their end. */
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

/**
 * Leaves out the epoch, which belongs to the session at the top. Nobody holds the sessions of
 * sub-agents.
 */
function heldBy(
  claim: Pick<TurnClaim, 'assertHeld'> | undefined,
): Pick<TurnClaim, 'assertHeld'> | undefined {
  return claim && { assertHeld: () => claim.assertHeld() };
}
