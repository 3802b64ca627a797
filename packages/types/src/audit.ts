import type { FailureCause } from './errors.js';
import type { ImageMediaType } from './images.js';
import type { ToolErrorCode } from './tool.js';
import type { CapabilityName } from './tool-capabilities.js';

/** One access by a tool. Holds no secret's value and no file's content. */
export interface AuditEvent {
  /** ISO 8601, UTC. */
  time: string;
  sessionId: string;
  personalityId?: string;
  toolName: string;
  toolCallId: string;
  capability: CapabilityName;
  /** The accessor's method: `fetch`, `get`, `read`, `spawn`, … */
  operation: string;
  /**
   * Origin and path, secret ref, key, file path or binary; 4,096 characters at most, secrets of the call
   * replaced.
   */
  target: string;
  decision: 'allowed' | 'denied';
  /** The rule that decided. */
  reason: string;
  /** The parts that decided. Absent where no declaration gave the access, but the host did. */
  why?: AuditWhy;
}

/**
 * The parts of a declaration and of a policy that decided on an access. Where an access was denied
 * and a list is named without an index, the list has no entry for the target.
 */
export interface AuditWhy {
  /** The part of the tool's declaration: `network.allowedHosts[1] = "*.example.com"`. */
  declared: string;
  /**
   * The lines of the personality's file, `personalities/coder/config.yaml:12`; where no file says
   * it, the part, `personality coder: safety.network.allow[0]`; of a turn's policy
   * `the turn: networkPolicy.allow[0]`. Empty where the policy says nothing. It is the entry that covers
   * or denies the target, the cap that is used up, the list without the target, or the `toolset` entry of
   * the tool. Where only `allow_private_urls` opens an address, that line too; of a sub-agent, lines of
   * both personalities. Lines are those of the file when it was loaded.
   */
  policy: string[];
}

/** How a call was approved, or refused. */
export interface AuditApproval {
  approved: boolean;
  /** Why approval was asked for. */
  reason: string;
  /** Who decided, as the host says. */
  by?: string;
  /** The id of the grant that answered. */
  grant?: string;
  /** The call ran with other arguments than the model gave. */
  edited?: boolean;
  /**
   * Milliseconds from the question until the call went on. A call that waited in its session went
   * on when it was called again. Absent where a grant answered.
   */
  waitedMs?: number;
}

/** One call of a tool, with its answer. A call that waits for a decision has none yet. */
export interface AuditCall {
  kind: 'call';
  /** When the call was answered: ISO 8601, UTC. */
  time: string;
  sessionId: string;
  personalityId?: string;
  agentId?: string;
  userScopeId?: string;
  teamId?: string;
  /** As the call named it, whether or not there is such a tool. */
  toolName: string;
  toolCallId: string;
  /** The id of the call that made this one. Absent where the model made it. */
  parentCallId?: string;
  /** SHA-256 of the arguments as JSON with sorted keys, in hexadecimal. */
  argsDigest: string;
  /**
   * The arguments, without secrets that the call resolved. Present where the operator asks for
   * them.
   */
  args?: unknown;
  /** Whether it was a dry run. Absent where it was none. */
  dryRun?: boolean;
  /** The gate that answered. Absent where the tool ran. */
  gate?: string;
  approval?: AuditApproval;
  outcome: 'ok' | ToolErrorCode;
  cause?: FailureCause;
  /** Milliseconds from the start of the tool to its end; 0 where it did not run. */
  durationMs: number;
  /** Bytes of what the model reads, as UTF-8. */
  bytes: number;
  /**
   * What the model reads, without secrets that the call resolved. Present where the operator asks
   * for it.
   */
  result?: string;
  /**
   * The images of the result, before any of them was made smaller. Absent where there are no
   * images.
   */
  images?: AuditImage[];
  /** The number of places in the result where a secret of the call was replaced. Absent for 0. */
  redactions?: number;
  /** US dollars that the tool says it cost. */
  costUsd?: number;
}

/** An image in a result. Its bytes are not here. */
export interface AuditImage {
  /** The kind, read from the content; `unknown` for a kind that models don't read. */
  mediaType: ImageMediaType | 'unknown';
  sizeBytes: number;
  /** SHA-256 of its bytes, in hexadecimal. */
  sha256: string;
}

/** Where audit events go. An access whose event can't be recorded is refused. */
export interface AuditSink {
  /** Called for each access and each call. Must not throw: what it throws refuses the access. */
  record(event: AuditEvent): void;
  /**
   * Called once for each call that has its answer, before anybody gets the answer. What this throws
   * is reported instead of the answer.
   */
  call?(event: AuditCall): void;
  /**
   * Called when an access is over that was recorded, and whose end is known: with the very event,
   * and the whole milliseconds since the access was asked for. What it throws is ignored: the access
   * has happened.
   */
  completed?(event: AuditEvent, durationMs: number): void;
  /**
   * Resolves when all recorded events are where they stay. Called once for each call, after it was
   * recorded and before anybody gets its answer. When this rejects, or takes longer than the call
   * may, the answer is withheld.
   */
  flush?(): Promise<void>;
}
