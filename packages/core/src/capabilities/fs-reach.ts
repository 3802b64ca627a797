import { isDeclarablePath, isWithin } from '@ethosagent/policy';
import type { ToolCapabilities } from '@ethosagent/types';
import type { PersonalityFsReach } from '../backends.js';
import { checkedStorage } from '../checked/checked-storage.js';
import { defaultDenyPaths, ScopedFsImpl } from '../scoped/scoped-fs.js';
import { ScopedStorageView } from '../scoped/scoped-storage-view.js';
import { defineCapability } from './capability-module.js';
import { FsGrant, placesOf } from './fs-grant.js';
import { GrantCache } from './grant-cache.js';
import { NarrowedFsGrant } from './narrowed-fs-grant.js';
import { listProblem, problem, quote } from './shapes.js';

type FsDeclaration = NonNullable<ToolCapabilities['fs_reach']>;

const KINDS = ['read', 'write'] as const;

/** Paths, through `scopedFs` and the turn's `storage`. */
export const fsReach = defineCapability('fs_reach', {
  isForServices: true,
  shapeProblem: (declared) => {
    const reach: { read?: unknown; write?: unknown } = Object(declared);
    return KINDS.map((kind) =>
      reach[kind] === undefined || reach[kind] === 'from-personality'
        ? undefined
        : listProblem(`fs_reach.${kind}`, reach[kind]),
    ).find((wrong) => wrong !== undefined);
  },
  malformed: (declared) =>
    KINDS.flatMap((kind) =>
      pathsOf(declared, kind).flatMap((path) =>
        isDeclarablePath(path)
          ? []
          : [
              problem(
                `fs_reach.${kind}`,
                `${quote(path)} is not an absolute path without . and ..`,
              ),
            ],
      ),
    ),
  exceeding: (declared, personality) =>
    KINDS.flatMap((kind) => {
      const reach = personality.fs_reach?.[kind] ?? [];
      const message = (path: string) =>
        `${path} is not covered by the personality's fs_reach.${kind}`;
      return pathsOf(declared, kind)
        .filter((path) => isDeclarablePath(path) && !reach.some((root) => isWithin(path, root)))
        .map((path) => problem(`fs_reach.${kind}`, message(path)));
    }),
  compile: (declared, { backends }) => {
    const places = placesOf(KINDS.flatMap((kind) => pathsOf(declared, kind)));
    const cache = new GrantCache((reach: PersonalityFsReach) => {
      return new FsGrant({ reach: declared, places }, reach, {
        floor: defaultDenyPaths(),
        added: () => backends.denyPaths ?? [],
      });
    });
    return {
      grant: ({ policy, narrowing }, grants) => {
        const whole = cache.get(policy.fsReach);
        grants.files =
          narrowing?.read === undefined && narrowing?.write === undefined
            ? whole
            : new NarrowedFsGrant(whole, narrowing);
      },
      bind: ({ grants: { files }, scope, registry, accessors }) => {
        if (files === undefined) return;
        if (backends.storage !== undefined) {
          const storage = checkedStorage(backends.storage);
          const { read, write } = files;
          const reach = files.reach(storage);
          accessors.scopedFs = new ScopedFsImpl(storage, read, write, { reach, scope });
        }
        if (registry === undefined || scope === undefined) return;
        const { storage, readMtimes } = registry;
        if (storage !== undefined) {
          accessors.storage = new ScopedStorageView(files.narrow(checkedStorage(storage)), scope);
        }
        if (readMtimes !== undefined) accessors.readMtimes = readMtimes;
      },
      why: (access, { grants: { files }, policy }) =>
        files?.why(access, policy) ?? { declared: 'fs_reach', policy: [] },
      describe: (_call, { files }) => (files ? { fs_reach: files.describe() } : {}),
    };
  },
});

function pathsOf(declared: FsDeclaration, kind: (typeof KINDS)[number]): readonly string[] {
  const paths = declared[kind];
  return paths === undefined || paths === 'from-personality' ? [] : paths;
}
