/**
 * Every stable code that an error of this project carries, with what it means for the reader.
 * `docs/reference/errors.md` shows the same table; a test keeps the two equal.
 */
export const ERROR_CODES = {
  // Denials by a scoped accessor.
  HOST_NOT_ALLOWED: 'The host, address, scheme, port or header is outside the reach of the call.',
  SECRET_NOT_DECLARED: 'The secret ref is not among the declared secrets of the tool.',
  PATH_NOT_REACHABLE: 'The path is outside the reach of the call, or on the deny floor.',
  BINARY_NOT_ALLOWED: 'The binary, or the way it was to be started, is not allowed.',
  SECRET_NOT_BOUND: 'The handle of a secret stands where its value may not go.',
  QUOTA_EXCEEDED: 'The access would go over a quota of the personality.',
  SANDBOX_UNAVAILABLE: 'The personality requires a sandbox, and this machine has none.',
  ATTACHMENT_NOT_AVAILABLE: 'The attachment is not one of this turn, or not of a declared type.',
  MEMORY_SCOPE_NOT_AVAILABLE: 'The call has no memory of this scope.',
  MEMORY_NOT_WRITABLE: 'The tool declared that it only reads memory.',
  PROCESS_NOT_FOUND: 'The session has no such background process that the tool may see.',
  TOO_MANY_PROCESSES: 'The session has as many background processes running as it may.',
  TOO_MANY_SERVICES: 'The session keeps as much open as it may.',
  DELEGATION_LIMIT:
    'The task is too deep, one more than may run at once, or has used up what it may.',
  DELEGATION_REFUSED: 'The caller can not give the personality or the tool that the task names.',
  TOOL_NOT_CALLABLE: 'The tool is not one that this call may call.',
  DELEGATION_NOT_FOUND: 'The session has delegated no such task.',
  DELEGATION_CANCELLED: 'The task was cancelled before it had an answer.',
  CALL_ENDED: 'The accessor was used after its call had ended.',
  AUDIT_FAILED: 'The access, or the begin of a call, could not be recorded, so it was refused.',
  // Storage.
  FILE_NOT_FOUND: 'There is no file or directory at the path.',
  NOT_A_FILE: 'The path names a directory, a FIFO, a socket or a device.',
  NOT_A_DIRECTORY: 'A part of the path that should be a directory is something else.',
  FILE_TOO_LARGE: 'The file is larger than the cap for reads.',
  PATH_INVALID: 'The path can not name a file: empty, too long, a NUL or a lone surrogate.',
  PERMISSION_DENIED: 'The operating system refused the access.',
  DISK_FULL: 'There is no space left for the write.',
  READ_ONLY: 'The file system is read-only.',
  ALREADY_EXISTS: 'Something else is already at the path.',
  STORAGE_FAILED: 'The storage failed in another way.',
  // Images.
  IMAGE_INVALID: 'The image is cut off, or is not what its header says.',
  IMAGE_TOO_LARGE: 'The image has more bytes or pixels than are read.',
  // Secrets.
  SECRET_NOT_FOUND: 'The secrets backend has no value for the ref.',
  SECRETS_UNAVAILABLE: 'The secrets backend failed, so that nobody knows whether it has a value.',
  // Key-value.
  KEY_INVALID: 'The key is not a well-formed string within the cap.',
  VALUE_INVALID:
    'The value is not one that the store takes, e.g. not a well-formed string within the cap.',
  TTL_INVALID: 'The TTL is not a number of seconds above zero.',
  STORE_CORRUPT: 'The database file is damaged or is not a database. It was left untouched.',
  STORE_NEWER: 'A newer version of this project wrote the database. It was left untouched.',
  STORE_UNAVAILABLE: 'The store could not be opened, read or written.',
  // Memory and sessions.
  MEMORY_NOT_FOUND: 'The memory has no such section, or nothing that matches.',
  MEMORY_AMBIGUOUS: 'The text to match is in more than one place of the memory.',
  MEMORY_TOO_LARGE: 'The memory, or a section of it, would be larger than its cap.',
  MEMORY_CHANGED: 'The memory is no longer what it was when it was read.',
  SESSION_OWNER_MISMATCH: 'The session belongs to another owner.',
  SESSION_CHANGED: 'The session is no longer what it was when it was read.',
  SESSION_TAKEN: 'Somebody else holds the session, or holds it now.',
  // Network.
  NETWORK_FAILED: 'The request was allowed, but failed: no connection, a reset, a bad answer.',
  NETWORK_TIMEOUT: 'The request took longer than its deadline.',
  BODY_TOO_LARGE: 'The response body is larger than the cap.',
  TOO_MANY_REDIRECTS: 'The request was redirected more often than allowed.',
  // Processes.
  SPAWN_FAILED: 'The binary was allowed, but could not be started.',
  PROCESS_ENDED: 'The process has ended, or takes no more input.',
  // Agents.
  MODEL_FAILED: 'The model could not be asked, or broke off its answer, also when tried again.',
  TURN_INVALID:
    'The turn can not begin: the session has another one that is not finished, or none.',
  // Approvals.
  ALREADY_DECIDED: 'The question has another decision already.',
  APPROVAL_INVALID: 'No such call waits, or it asks for something else now.',
  // Calls: why a result failed.
  CALL_TIMED_OUT: 'The call, or the turn that it belongs to, took longer than it may.',
  CALL_ABORTED: 'The turn was aborted, or its runtime closed, before the call had ended.',
  CALL_INTERRUPTED: 'The call had begun when its process ended. It may have run.',
  TURN_LIMIT: 'The call did not run, since a limit had ended its turn.',
  PROGRAM_LIMIT: 'A program made more calls, or larger ones, than it may.',
  PROGRAM_INVALID: 'A program sent what is no call of a tool.',
  TOOL_NOT_FOUND: 'There is no tool of this name.',
  TOOL_NOT_ALLOWED: 'The personality, the turn or the task does not have the tool.',
  TOOL_UNAVAILABLE:
    'Something that the tool needs is missing: a key, a program, a server, a backend.',
  INPUT_INVALID: 'The arguments are not what the tool takes.',
  NOT_APPROVED: 'The call needs approval, and did not get it.',
  // Configuration.
  CONFIG_INVALID: 'A configuration file or option is wrong; the message names the file and key.',
  REACH_WIDENED: 'The tools may touch more than the reach lock says.',
  TOOL_NAME_TAKEN: 'Another owner has registered a tool of this name.',
  TOOL_INVALID: 'The tool, or a capability that it declares, is malformed.',
  REDUCER_NAME_TAKEN: 'A reducer is already registered for this tool.',
  // Tests.
  NOT_CONTAINED: 'A tool under test reached what it may not, or did not work.',
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
  'dry run': 'the call is a dry run, which changes no file',
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
