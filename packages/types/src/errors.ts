/**
 * Every stable code that an error of this project carries, with what it means for the reader.
 * `docs/reference/errors.md` shows the same table; a test keeps the two equal.
 */
export const ERROR_CODES = {
  // Denials by a scoped accessor.
  HOST_NOT_ALLOWED: 'Host, address, scheme, port or header outside the reach of the call.',
  SECRET_NOT_DECLARED: 'The tool does not declare the secret.',
  PATH_NOT_REACHABLE: 'Path outside the reach of the call, or on the deny floor.',
  BINARY_NOT_ALLOWED: 'Binary, argument or variable not allowed.',
  SECRET_NOT_BOUND: 'A secret handle where its value may not go.',
  QUOTA_EXCEEDED: 'Over a quota of the personality.',
  SANDBOX_UNAVAILABLE: 'A sandbox is required, and this machine has none.',
  ATTACHMENT_NOT_AVAILABLE: 'Attachment not of this turn, or not of a declared type.',
  MEMORY_SCOPE_NOT_AVAILABLE: 'The call has no memory of this scope.',
  MEMORY_NOT_WRITABLE: 'The tool declares read access only.',
  PROCESS_NOT_FOUND: 'No such background process for this tool in the session.',
  TOO_MANY_PROCESSES: 'The session runs as many background processes as it may.',
  TOO_MANY_SERVICES: 'The session keeps as much open as it may.',
  DELEGATION_LIMIT: 'Too deep, too many at once, or used up what it may.',
  DELEGATION_REFUSED: 'The caller can not give that personality or tool.',
  TOOL_NOT_CALLABLE: 'This call may not call the tool.',
  DELEGATION_NOT_FOUND: 'No such task of the session.',
  DELEGATION_CANCELLED: 'The task was cancelled before its answer.',
  CALL_ENDED: 'The accessor was used after its call.',
  AUDIT_FAILED: 'The access or call could not be recorded, so it was refused.',
  // Storage.
  FILE_NOT_FOUND: 'No file or directory at the path.',
  NOT_A_FILE: 'A directory, FIFO, socket or device.',
  NOT_A_DIRECTORY: 'A part of the path is no directory.',
  FILE_TOO_LARGE: 'Larger than the cap for reads.',
  PATH_INVALID: 'Path empty, too long, or with a NUL or a lone surrogate.',
  PERMISSION_DENIED: 'The operating system refused.',
  DISK_FULL: 'No space left.',
  READ_ONLY: 'Read-only file system.',
  ALREADY_EXISTS: 'Something else is at the path.',
  STORAGE_FAILED: 'Another failure of the storage.',
  // Images.
  IMAGE_INVALID: 'Image cut off, or not what its header says.',
  IMAGE_TOO_LARGE: 'More bytes or pixels than are read.',
  // Secrets.
  SECRET_NOT_FOUND: 'The backend has no such secret.',
  SECRETS_UNAVAILABLE: 'The secrets backend failed.',
  // Key-value.
  KEY_INVALID: 'Key not well-formed, or over the cap.',
  VALUE_INVALID: 'Value not one that the store takes, e.g. over the cap.',
  TTL_INVALID: 'Not a number of seconds above zero.',
  STORE_CORRUPT: 'The file is damaged or no database. It was left untouched.',
  STORE_NEWER: 'A newer version wrote the database. It was left untouched.',
  STORE_UNAVAILABLE: 'The store can not be opened, read or written.',
  // Memory and sessions.
  MEMORY_NOT_FOUND: 'No such section, or nothing that matches.',
  MEMORY_AMBIGUOUS: 'The text to match is there more than once.',
  MEMORY_TOO_LARGE: 'The memory or a section would be over its cap.',
  MEMORY_CHANGED: 'The memory changed since it was read.',
  SESSION_OWNER_MISMATCH: 'The session belongs to another owner.',
  SESSION_CHANGED: 'The session changed since it was read.',
  SESSION_TAKEN: 'Somebody else holds the session.',
  // Network.
  NETWORK_FAILED: 'Allowed, but failed: no connection, a reset, a bad answer.',
  NETWORK_TIMEOUT: 'Longer than its deadline.',
  BODY_TOO_LARGE: 'Response body over the cap.',
  TOO_MANY_REDIRECTS: 'More redirects than allowed.',
  // Processes.
  SPAWN_FAILED: 'Allowed, but could not be started.',
  PROCESS_ENDED: 'The process has ended, or takes no input.',
  // Agents.
  MODEL_FAILED: 'The model did not answer, or broke off, also when tried again.',
  TURN_INVALID: 'Can not begin: the session has an unfinished turn, or none to go on with.',
  // Approvals.
  ALREADY_DECIDED: 'The question has another decision.',
  APPROVAL_INVALID: 'No such call waits, or it asks for something else.',
  // Calls: why a result failed.
  CALL_TIMED_OUT: 'The call, or its turn, took longer than it may.',
  CALL_ABORTED: 'Its turn was aborted, or its runtime closed.',
  CALL_INTERRUPTED: 'Its process ended. It may have run.',
  TURN_LIMIT: 'Not run: a limit had ended its turn.',
  PROGRAM_LIMIT: 'A program made more or larger calls than it may.',
  PROGRAM_INVALID: 'A program sent what is no call.',
  TOOL_NOT_FOUND: 'No tool of this name.',
  TOOL_NOT_ALLOWED: 'Not a tool of the personality, turn or task.',
  TOOL_UNAVAILABLE: 'A key, program, server or backend is missing.',
  INPUT_INVALID: 'Arguments that the tool does not take.',
  NOT_APPROVED: 'Approval was needed, and not given.',
  // Configuration.
  CONFIG_INVALID: 'A wrong file or option; the message names file and key.',
  REACH_WIDENED: 'Tools may touch more than the reach lock says.',
  TOOL_NAME_TAKEN: 'Another owner registered this name.',
  TOOL_INVALID: 'Malformed tool or capability.',
  REDUCER_NAME_TAKEN: 'The tool has a reducer already.',
  // Tests.
  NOT_CONTAINED: 'A tested tool reached what it may not, or did not work.',
} as const;

/** A stable error code. Switch on it; never on a message. */
export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * Why a call failed: the code of the error behind its result, or how the framework ended it. It
 * stands beside the documented `code`, which only tells four classes apart.
 */
export type FailureCause = ErrorCode;

/** The base of every error that this project throws on purpose. `message` starts with `code`. */
export class EthosError extends Error {
  override name = 'EthosError';
  readonly code: ErrorCode;

  /**
   * @param code the stable code, also the prefix of the message
   * @param detail what happened, and what to do next; never a secret
   * @param options the `cause`
   */
  constructor(code: ErrorCode, detail: string, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options);
    this.code = code;
  }
}

/** Codes by which a scoped accessor says no. */
export type DenialCode =
  | 'HOST_NOT_ALLOWED'
  | 'SECRET_NOT_DECLARED'
  | 'PATH_NOT_REACHABLE'
  | 'BINARY_NOT_ALLOWED'
  | 'SECRET_NOT_BOUND'
  | 'QUOTA_EXCEEDED'
  | 'SANDBOX_UNAVAILABLE'
  | 'ATTACHMENT_NOT_AVAILABLE'
  | 'MEMORY_SCOPE_NOT_AVAILABLE'
  | 'MEMORY_NOT_WRITABLE'
  | 'PROCESS_NOT_FOUND'
  | 'TOO_MANY_PROCESSES'
  | 'TOO_MANY_SERVICES'
  | 'DELEGATION_LIMIT'
  | 'DELEGATION_REFUSED'
  | 'DELEGATION_NOT_FOUND'
  | 'TOOL_NOT_CALLABLE'
  | 'CALL_ENDED'
  | 'AUDIT_FAILED';

/**
 * An access was refused. `rule` names the rule that decided, for the audit trail; the message is
 * for the reader and holds nothing that the caller could not know already.
 */
export class CapabilityError extends EthosError {
  override name = 'CapabilityError';
  declare readonly code: DenialCode;
  readonly rule: string;

  /**
   * @param code the stable code
   * @param detail what was refused, and what to do next; never a secret
   * @param rule a short name of the rule that denied, e.g. `deny floor` or `not in the host set`
   * @param options the `cause`
   */
  // biome-ignore lint/complexity/useMaxParams: a documented signature
  constructor(code: DenialCode, detail: string, rule: string, options?: ErrorOptions) {
    super(code, detail, options);
    this.rule = rule;
  }
}

/** Which way a path was to be reached. */
export type ReachKind = 'read' | 'write';

/**
 * What a denial says about its rule, besides the path. It says nothing about links that lead out of
 * the reach, nor about missing files, since that would reveal what exists outside.
 */
const PATH_RULES: Readonly<Record<string, string>> = {
  'deny floor': 'it is on the deny floor, which no reach opens; use another path',
  'deny floor: a hard link to a denied file':
    'it is on the deny floor, which no reach opens; use another path',
  'deny floor: a denied path is below':
    'something below it is on the deny floor; move or remove the rest by itself',
  'a root of the reach stays in place':
    'it is, or holds, a folder that fs_reach of the personality names; change what is in it',
  'a move makes nothing readable':
    'this file may be written and not read, and a move would take its text to where it may be read; write a new file there instead',
  'the links lead in a circle': 'the links lead in a circle; remove one of them',
};

function whyOf(rule: string): string {
  return Object.hasOwn(PATH_RULES, rule) ? `: ${PATH_RULES[rule]}` : '';
}

/** A path outside the reach. Thrown by `ScopedFs`, `ScopedStorage` and the contained view alike. */
export class BoundaryError extends CapabilityError {
  override name = 'BoundaryError';
  declare readonly code: 'PATH_NOT_REACHABLE';
  readonly kind: ReachKind;
  /** The path as it was asked for, never what a link behind it leads to. */
  readonly path: string;

  /**
   * A denial of an access to a path.
   *
   * @param kind of the access
   * @param path as it was asked for
   * @param rule a short name of the rule that denied
   */
  constructor(kind: ReachKind, path: string, rule = 'outside the reach') {
    super('PATH_NOT_REACHABLE', `${kind} not permitted for ${path}${whyOf(rule)}`, rule);
    this.kind = kind;
    this.path = path;
  }
}

/**
 * The code of an error of this project. It works with errors of another copy of this package, too.
 *
 * @param error any value
 * @returns `undefined` for other errors
 */
export function errorCodeOf(error: unknown): ErrorCode | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code)
    ? (code as ErrorCode)
    : undefined;
}
