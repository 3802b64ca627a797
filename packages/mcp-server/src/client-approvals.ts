import { type ApprovalDecision, type ApprovalRequest, mayGrant } from '@ethosagent/core';
import type { GrantScope, PersonalityConfig } from '@ethosagent/types';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { approvalForm, readApprovalForm } from './approval-form.js';

const SCOPES: readonly GrantScope[] = ['arguments', 'session', 'tool'];
/** How many forms are shown for one call. */
const MAX_FORMS = 3;

export interface ClientApprovalsParts {
  server: Pick<Server, 'elicitInput' | 'getClientCapabilities'>;
  /** The present personality of the session. */
  personality: () => Promise<PersonalityConfig>;
  /** Who decides, for the record. */
  by: string;
  timeoutMs: number;
}

/** The request of a client that contains the call. */
export interface ClientRequest {
  requestId: RequestId;
  /** Tells the client that its call waits. */
  onAsk: () => void;
}

export class ClientApprovals {
  readonly #parts: ClientApprovalsParts;
  readonly #requests = new Map<string, ClientRequest>();

  constructor(parts: ClientApprovalsParts) {
    this.#parts = parts;
  }

  /** Runs a call. Its questions are sent to the client along with its request. */
  async during<T>(toolCallId: string, request: ClientRequest, run: () => Promise<T>): Promise<T> {
    this.#requests.set(toolCallId, request);
    try {
      return await run();
    } finally {
      this.#requests.delete(toolCallId);
    }
  }

  /** Returns `later` if the client can't show forms, or its user gave no answer. */
  readonly approve = async (asked: ApprovalRequest): Promise<ApprovalDecision | 'later'> => {
    const { server, personality, by, timeoutMs } = this.#parts;
    // The client knows of the call of its own only, and not of those that its tool makes.
    const request = this.#requests.get(asked.parentCallId ?? asked.toolCallId);
    const canAsk = server.getClientCapabilities()?.elicitation?.form !== undefined;
    if (request === undefined || !canAsk) return 'later';
    const config = await personality();
    const scopes = SCOPES.filter((scope) => mayGrant(config, scope));
    request.onAsk();
    let problem = asked.problem && `Nothing has run: ${asked.problem}. Answer again.`;
    for (let form = 0; form < MAX_FORMS; form++) {
      const answer = await server
        .elicitInput(approvalForm(asked, scopes, problem), {
          relatedRequestId: request.requestId,
          signal: asked.signal,
          timeout: timeoutMs,
        })
        // The client ended, took too long or filled in the form wrongly, so nobody has decided.
        .catch(() => undefined);
      if (answer === undefined || answer.action === 'cancel') return 'later';
      if (answer.action === 'decline') return { approved: false, by };
      const said = readApprovalForm(answer.content ?? {}, asked, by);
      if (!('problem' in said)) return said;
      problem = said.problem;
    }
    return 'later';
  };
}
