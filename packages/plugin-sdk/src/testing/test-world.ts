import { type CapabilityBackends, createInMemoryKvStore } from '@ethosagent/core';
import type {
  AuditEvent,
  Storage,
  ToolBatchContext,
  ToolCapabilities,
  ToolProgressEvent,
  TurnAttachment,
} from '@ethosagent/types';
import { createFakeFetch, type Routes } from './fake-fetch.js';
import type { ProcessTable, SpawnedProcess } from './fake-process.js';
import { createInMemoryStorage } from './in-memory-storage.js';
import { createRecordingEmitter } from './recording-emitter.js';

/** The working directory of a test, and what `'from-personality'` stands for by default. */
export const TEST_WORKING_DIR = '/workspace';

/** What stands behind the accessors of a tool under test. Everything is in memory. */
export interface TestOptions {
  /** Fields of the context, e.g. `sessionId`, `personalityId`, `abortSignal`, `dryRun`. */
  context?: Partial<ToolBatchContext>;
  /** What the network answers. */
  routes?: Routes;
  /** The personality's network allow list. None when absent: declared hosts are as declared. */
  networkAllow?: string[];
  /** Text or bytes by absolute path. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** In place of `files`, to keep files from one run to the next. */
  storage?: Storage;
  /** The personality's reach. `/workspace` and the tool's explicit paths when absent. */
  fsReach?: { read: string[]; write: string[] };
  /** Values by secret ref. */
  secrets?: Readonly<Record<string, string>>;
  /** Key-value stores, to keep entries from one run to the next. Fresh ones when absent. */
  kvStoreFactory?: NonNullable<CapabilityBackends['kvStoreFactory']>;
  /** What binaries answer. Nothing is started. */
  processes?: ProcessTable;
  attachments?: readonly TurnAttachment[];
  /** Decides on a call that requires approval. Without it such a call is refused. */
  approve?: NonNullable<CapabilityBackends['approve']>;
  /** Milliseconds since the epoch, for stores, files and audit. */
  now?: () => number;
}

/** What a test can look at. */
export interface TestObservations {
  /** What the tool emitted. */
  readonly events: readonly ToolProgressEvent[];
  /** The requests that reached the network. */
  readonly requests: readonly Request[];
  /** The processes that would have been started. */
  readonly spawned: readonly SpawnedProcess[];
  /** The files behind `scopedFs`. */
  readonly storage: Storage;
}

export interface TestWorld extends TestObservations {
  spawned: SpawnedProcess[];
  audit: AuditEvent[];
  backends: CapabilityBackends;
  batchContext: ToolBatchContext;
}

/** Builds backends in memory for a declaration. */
export function createTestWorld(capabilities: ToolCapabilities, options: TestOptions): TestWorld {
  const { events, emit } = createRecordingEmitter();
  const { fetch, requests } = createFakeFetch(options.routes ?? {});
  const storage = options.storage ?? createInMemoryStorage(options.files, options.now);
  const secrets = new Map(Object.entries(options.secrets ?? {}));
  const audit: AuditEvent[] = [];
  const { now, networkAllow, approve } = options;
  const batchContext: ToolBatchContext = {
    sessionId: 'test-session',
    sessionKey: 'test:session',
    platform: 'test',
    workingDir: TEST_WORKING_DIR,
    currentTurn: 1,
    messageCount: 0,
    abortSignal: new AbortController().signal,
    emit,
    readMtimes: new Map(),
    ...options.context,
  };
  return {
    events,
    requests,
    spawned: [],
    storage,
    audit,
    batchContext,
    backends: {
      kvStoreFactory:
        options.kvStoreFactory ??
        createInMemoryKvStore(now === undefined ? {} : { clock: now }).kvStoreFactory,
      async secretsBackend(ref) {
        const value = secrets.get(ref);
        if (value === undefined) throw new Error(`the test has no secret ${ref}`);
        return value;
      },
      storage,
      personalityFsReach: options.fsReach ?? {
        read: defaultReach(capabilities.fs_reach?.read),
        write: defaultReach(capabilities.fs_reach?.write),
      },
      ...(networkAllow !== undefined && { personalityNetworkAllow: networkAllow }),
      ...(approve !== undefined && { approve }),
      fetch,
      audit: { record: (event) => void audit.push(event) },
    },
  };
}

function defaultReach(declared: string[] | 'from-personality' | undefined): string[] {
  return [TEST_WORKING_DIR, ...(Array.isArray(declared) ? declared : [])];
}
