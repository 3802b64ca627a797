import { homedir } from 'node:os';
import {
  denyFloor,
  ForwardingStorage,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { createDenySet } from './deny-index.js';
import { assertNotRevealed, type Guard, openGuard } from './guard.js';
import { ReachGuard, withoutLeads } from './reach-guard.js';

/**
 * A view of a storage that is held to a reach by the path's text alone. That contains a storage
 * without links; on one with links it doesn't.
 */
export class LexicalView extends ForwardingStorage {
  readonly #inner: Storage;
  readonly #guard: Guard;

  constructor(inner: Storage, guard: Guard) {
    super(inner);
    this.#inner = inner;
    this.#guard = guard;
  }

  contained(reach: ContainedReach): Storage {
    return lexicalView(this.#inner, reach, this.#guard);
  }

  protected override async look<Operation extends StorageLook>(
    _operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    return run(this.#guard.enter('read', path));
  }

  protected override async change(
    { operation, path, to }: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    const source = this.#guard.enter('write', path);
    if (operation === 'remove') {
      // Without `recursive` a storage removes nothing but files.
      this.#guard.judgeMove(source, path, opts?.recursive !== true);
    }
    if (to === undefined) return run({ path: source }, opts);
    const target = this.#guard.enter('write', to);
    this.#guard.judgeMove(source, path, false);
    this.#guard.judgeMove(target, to, false);
    assertNotRevealed(this.#guard, { source, target, asked: path });
    return run({ path: source, to: target }, opts);
  }
}

/** Holds `inner` to a reach and to the deny floor by the text of paths. */
export function lexicalView(
  inner: Storage,
  reach: ContainedReach,
  outer: Guard = openGuard,
): LexicalView {
  const deny = createDenySet([...denyFloor({ home: homedir() }), ...(reach.deny ?? [])]);
  const own = withoutLeads(reach);
  return new LexicalView(
    inner,
    new ReachGuard({ reach: own, deny, outer, realPathOf: (path) => path }),
  );
}
