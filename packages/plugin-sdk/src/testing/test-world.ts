import {
  type CapabilityBackends,
  createInMemoryKvStore,
  createInMemoryMemory,
  createInMemorySessionStore,
} from '@ethosagent/core';
import { assertOptions, type OptionNames } from '@ethosagent/policy';
import type {
  AuditEvent,
  MemoryProvider,
  ScopedProcess,
  ServiceScope,
  SessionStore,
  Storage,
  ToolBatchContext,
  ToolCapabilities,
  ToolContext,
  ToolProgressEvent,
  TurnAttachment,
} from '@ethosagent/types';
import { EthosError } from '@ethosagent/types';
import type { FakeBackgroundProcess } from './fake-background.js';
import { createFakeFetch, type Routes } from './fake-fetch.js';
import {
  createFakeProcess,
  createFakeStarts,
  type ProcessAccess,
  type ProcessTable,
  type SpawnedProcess,
} from './fake-process.js';
import { withFakeProcesses } from './fake-services.js';
import { createInMemoryStorage } from './in-memory-storage.js';
import { createRecordingEmitter } from './recording-emitter.js';

/** The working directory of a test. By default, `'from-personality'` stands for it. */
export const TEST_WORKING_DIR = '/workspace';

/** The data behind the accessors of a tool under test. Everything is in memory. */
export interface TestOptions {
  /** Fields of the context, e.g. `sessionId`, `personalityId`, `abortSignal`, `dryRun`. */
  context?: Partial<ToolBatchContext>;
  /** The answers of the network. */
  routes?: Routes;
  /** The personality's network allow list. When absent, every declared host is allowed. */
  networkAllow?: string[];
  /** Files: text or bytes, by absolute path. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** A storage that replaces `files`. Pass the same one to several runs to keep its files. */
  storage?: Storage;
  /** The personality's reach. When absent, `/workspace` and the tool's explicit paths. */
  fsReach?: { read: string[]; write: string[] };
  /** Values by secret ref. */
  secrets?: Readonly<Record<string, string>>;
  /** Key-value stores. Pass the same ones to several runs to keep entries. New when absent. */
  kvStoreFactory?: NonNullable<CapabilityBackends['kvStoreFactory']>;
  /** The answers of binaries. Nothing is started. */
  processes?: ProcessTable;
  /** Background processes. Pass the same list to several runs to keep them. Empty when absent. */
  background?: FakeBackgroundProcess[];
  attachments?: readonly TurnAttachment[];
  /** Memories. Pass the same provider to several runs to keep them. Empty when absent. */
  memory?: MemoryProvider;
  /** Earlier sessions. None when absent. */
  sessions?: SessionStore;
  /** The personality's settings for the tool. */
  settings?: Readonly<Record<string, unknown>>;
  /** Decides on a call that requires approval. Without it such a call is refused. */
  approve?: NonNullable<CapabilityBackends['approve']>;
  /** Returns milliseconds since the epoch, for stores, files and audit. */
  now?: () => number;
}

const OPTIONS: OptionNames<TestOptions> = {
  context: true,
  routes: true,
  networkAllow: true,
  files: true,
  storage: true,
  fsReach: true,
  secrets: true,
  kvStoreFactory: true,
  processes: true,
  background: true,
  attachments: true,
  memory: true,
  sessions: true,
  settings: true,
  approve: true,
  now: true,
};

/** Records of what the tool did, and the data behind its accessors. */
export interface TestObservations {
  /** The events that the tool emitted. */
  readonly events: readonly ToolProgressEvent[];
  /** The requests that reached the network. */
  readonly requests: readonly Request[];
  /** The processes that would have been started. */
  readonly spawned: readonly SpawnedProcess[];
  /** The background processes, both running and ended. */
  readonly background: FakeBackgroundProcess[];
  /** The services that the tool opened. They stay open until the tool or the test calls `end()`. */
  readonly services: readonly ServiceScope[];
  /** The files behind `scopedFs`. */
  readonly storage: Storage;
  /** The memories behind `ctx.memory`. */
  readonly memory: MemoryProvider;
  /** The sessions behind `ctx.sessions`. */
  readonly sessions: SessionStore;
}

export interface TestWorld extends TestObservations {
  audit: AuditEvent[];
  /** Returns the processes of one call. Absent if the tool does not declare `process`. */
  processOf?: (
    ctx: Pick<ToolContext, 'sessionId' | 'personalityId' | 'abortSignal'>,
    onAccess?: (access: ProcessAccess) => void,
  ) => ScopedProcess;
  /** Records an opened service, and returns the service for the tool, which starts nothing. */
  keepOpen: (service: ServiceScope, onAccess?: (access: ProcessAccess) => void) => ServiceScope;
  backends: CapabilityBackends;
  batchContext: ToolBatchContext;
}

/** Builds backends in memory for a declaration. */
export function createTestWorld(capabilities: ToolCapabilities, options: TestOptions): TestWorld {
  assertOptions('options of the test', options, OPTIONS);
  const { events, emit } = createRecordingEmitter();
  const { fetch, lookup, requests } = createFakeFetch(options.routes ?? {});
  const storage = options.storage ?? createInMemoryStorage(options.files, options.now);
  const secrets = new Map(Object.entries(options.secrets ?? {}));
  const audit: AuditEvent[] = [];
  const { now, networkAllow, approve, settings } = options;
  const clock = now === undefined ? {} : { clock: now };
  const memory = options.memory ?? createInMemoryMemory(clock);
  const sessions = options.sessions ?? createInMemorySessionStore(clock);
  const spawned: SpawnedProcess[] = [];
  const background = options.background ?? [];
  const services: ServiceScope[] = [];
  const { process } = capabilities;
  const table = options.processes ?? {};
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
    spawned,
    background,
    services,
    storage,
    memory,
    sessions,
    audit,
    batchContext,
    ...(process !== undefined && {
      processOf: ({ sessionId, personalityId, abortSignal }, onAccess) =>
        createFakeProcess({
          declared: process,
          table,
          spawned,
          background,
          owner: { sessionId, ...(personalityId !== undefined && { personalityId }) },
          signal: abortSignal,
          now: now ?? Date.now,
          onAccess,
        }),
    }),
    keepOpen(service, onAccess) {
      const starts = process && createFakeStarts({ declared: process, table, spawned, onAccess });
      const open = withFakeProcesses(service, starts);
      services.push(open);
      return open;
    },
    backends: {
      kvStoreFactory: options.kvStoreFactory ?? createInMemoryKvStore(clock).kvStoreFactory,
      async secretsBackend(ref) {
        const value = secrets.get(ref);
        if (value === undefined) {
          throw new EthosError('SECRET_NOT_FOUND', `the test has no secret ${ref}; add it`);
        }
        return value;
      },
      storage,
      memory,
      sessions,
      personalityFsReach: options.fsReach ?? {
        read: defaultReach(capabilities.fs_reach?.read),
        write: defaultReach(capabilities.fs_reach?.write),
      },
      ...(networkAllow !== undefined && { personalityNetworkAllow: networkAllow }),
      ...(settings !== undefined && { personalityToolSettings: () => settings }),
      ...(approve !== undefined && { approve }),
      fetch,
      lookup,
      audit: { record: (event) => void audit.push(event) },
    },
  };
}

function defaultReach(declared: string[] | 'from-personality' | undefined): string[] {
  return [TEST_WORKING_DIR, ...(Array.isArray(declared) ? declared : [])];
}
