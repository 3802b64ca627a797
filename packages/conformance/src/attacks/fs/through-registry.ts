import { denyFloor } from '@ethosagent/policy';
import { FsStorage } from '@ethosagent/storage-fs';
import type {
  ContainedReach,
  Storage,
  StorageChange,
  ToolCapabilities,
  ToolContext,
  ToolRegistry,
} from '@ethosagent/types';
import { errorCodeOf } from '@ethosagent/types';
import { batchContext, type CreateRegistry, callsOf, ok, toolOf } from '../registry/batch.js';

/** The accessor through which a tool reaches files. */
export type FileAccessor = 'scopedFs' | 'storage';

/** A declaration of everything that the personality has. */
export const FROM_PERSONALITY = { read: 'from-personality', write: 'from-personality' } as const;

type WrapFiles = (storage: Storage) => Storage;

/** The methods of both accessors. */
type Files = Omit<Storage, 'contained'>;

/** A tool whose accessors a test uses. Each use is a new call. */
export class CallingTool {
  readonly #registry: ToolRegistry;
  readonly #storage: Storage;
  /**
   * The code of each call. It is not passed in arguments: files are bytes and errors have codes,
   * which a result can't contain.
   */
  readonly #runs: Array<(ctx: ToolContext) => Promise<unknown>> = [];

  constructor(
    create: CreateRegistry,
    home: string,
    {
      personality,
      declared,
      wrap = (storage) => storage,
    }: {
      personality: ContainedReach | undefined;
      declared: ToolCapabilities['fs_reach'];
      wrap?: WrapFiles | undefined;
    },
  ) {
    this.#storage = wrap(new FsStorage({ home }));
    // A storage that can't be contained only knows the floor of this machine and of its user, so
    // the floor of the test's home is added.
    const isTold = this.#storage.contained === undefined;
    const floor = isTold ? denyFloor({ home }).filter((path) => path.startsWith(home)) : [];
    this.#registry = create({
      storage: this.#storage,
      personalityFsReach: () =>
        personality && {
          read: [...personality.read],
          write: [...personality.write],
          deny: [...(personality.deny ?? []), ...floor],
        },
    });
    const capabilities = declared === undefined ? {} : { fs_reach: declared };
    const execute = async (args: unknown, ctx: ToolContext) => {
      await this.#runs[Number(args)]?.(ctx);
      return ok('');
    };
    this.#registry.register(toolOf('files', execute, { capabilities }));
  }

  /** Runs `run` in a call of its own, and returns or throws its outcome. */
  async call<T>(run: (ctx: ToolContext) => Promise<T>): Promise<T> {
    let outcome: Promise<T> | undefined;
    const id = this.#runs.length;
    this.#runs.push((ctx) => {
      outcome = run(ctx);
      return outcome.catch(() => {});
    });
    const ctx = batchContext({ storage: this.#storage, personalityId: 'p' });
    await this.#registry.executeParallel(callsOf(['files'], id), ctx);
    delete this.#runs[id];
    if (outcome === undefined) throw new TypeError('the tool did not run');
    return outcome;
  }
}

/**
 * A storage whose every operation is a tool call of its own, for a personality with this reach. So
 * the attacks on storages are also attacks on accessors.
 */
export class StorageThroughRegistry implements Storage {
  readonly #create: CreateRegistry;
  readonly #accessor: FileAccessor;
  readonly #personality: ContainedReach;
  readonly #home: string;
  readonly #wrap: WrapFiles | undefined;
  readonly #tool: CallingTool;

  constructor(
    create: CreateRegistry,
    {
      accessor,
      personality,
      home,
      declared = FROM_PERSONALITY,
      wrap,
    }: {
      accessor: FileAccessor;
      personality: ContainedReach;
      home: string;
      declared?: ToolCapabilities['fs_reach'];
      wrap?: WrapFiles | undefined;
    },
  ) {
    this.#wrap = wrap;
    this.#create = create;
    this.#accessor = accessor;
    this.#personality = personality;
    this.#home = home;
    this.#tool = new CallingTool(create, home, { personality, declared, wrap });
    // Makes a first access, so that what a registry works out once is worked out before the attack.
    const [root = home] = [...personality.read, ...personality.write];
    this.exists(root).catch(() => {});
  }

  contained({ read, write, deny = [] }: ContainedReach): Storage {
    const personality = {
      ...this.#personality,
      deny: [...(this.#personality.deny ?? []), ...deny],
    };
    const declared = { read: [...read], write: [...write] };
    return new StorageThroughRegistry(this.#create, {
      accessor: this.#accessor,
      personality,
      home: this.#home,
      declared,
      wrap: this.#wrap,
    });
  }

  read(path: string): Promise<string | null> {
    return nullWhenMissing(this.#with((files) => files.read(path)));
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return nullWhenMissing(this.#with((files) => files.readBytes(path)));
  }

  write(path: string, content: string | Uint8Array): Promise<void> {
    return this.#with((files) => files.write(path, content));
  }

  append(path: string, content: string | Uint8Array): Promise<void> {
    return this.#with(async (files) => {
      if (files.append === undefined) throw new TypeError(`${this.#accessor} can not append`);
      await files.append(path, content);
    });
  }

  exists(path: string): Promise<boolean> {
    return this.#with((files) => files.exists(path));
  }

  list(path: string): Promise<string[]> {
    return this.#with((files) => files.list(path));
  }

  listEntries(path: string): ReturnType<Storage['listEntries']> {
    return this.#with((files) => files.listEntries(path));
  }

  mtime(path: string): Promise<number | null> {
    return this.#with((files) => files.mtime(path));
  }

  mkdir(path: string): Promise<void> {
    return this.#with((files) => files.mkdir(path));
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    return this.#with((files) => files.remove(path, opts));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#with((files) => files.rename(from, to));
  }

  #with<T>(run: (files: Files) => Promise<T>): Promise<T> {
    return this.#tool.call(async (ctx) => {
      const files: Files | undefined = ctx[this.#accessor];
      if (files === undefined) throw new TypeError(`the call has no ${this.#accessor}`);
      return run(files);
    });
  }
}

/** Returns `null` for a missing file, as a storage does, where an accessor throws. */
async function nullWhenMissing<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (errorCodeOf(error) === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}
