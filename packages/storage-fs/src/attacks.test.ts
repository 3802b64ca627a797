import { startScript, storageAttacks } from '@ethosagent/conformance/attacks';
import { denyFloor, ForwardingStorage, openGuard } from '@ethosagent/policy';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { realPathAccess } from './access.js';
import { DenyIndex } from './deny-index.js';
import { FsStorage } from './fs-storage.js';
import { GuardedFs } from './guarded-fs.js';
import { ScopedStorage } from './scoped-storage.js';
import { wrapStorage } from './wrap-storage.js';

const writer = await bundleScript(new URL('./fixtures/writer.ts', import.meta.url));

storageAttacks(
  'FsStorage.contained',
  (reach, { home }) => new FsStorage({ home }).contained(reach),
  {
    startWriter: (path, from) => startScript(writer, { args: [path, String(from)] }),
  },
);

// Only in a long run: the first two use the same descriptors as the storage above, and
// `contained.test.ts` holds the others to what links lead to.
if (isLongRun()) {
  storageAttacks(
    'ScopedStorage over FsStorage',
    (reach, { home }) => new ScopedStorage(new FsStorage({ home }), reach),
    { seesRaces: false },
  );
  storageAttacks(
    'wrapStorage around FsStorage, contained',
    (reach, { home }) => {
      const wrapped = wrapStorage(new FsStorage({ home }), (_call, run) => run());
      return wrapped.contained?.(reach) ?? wrapped;
    },
    { seesRaces: false },
  );

  storageAttacks(
    'FsStorage without descriptors, as on other systems than Linux, contained',
    (reach, { home }) =>
      new GuardedFs(
        { access: realPathAccess, guard: openGuard },
        {
          maxReadBytes: 50_000_000,
          denyIndexFor: (deny) => new DenyIndex([...denyFloor({ home }), ...deny]),
        },
      ).contained(reach),
    { seesRaces: false },
  );

  storageAttacks(
    'ScopedStorage over a storage that wraps FsStorage and has no contained view',
    (reach, { home }) => {
      const deny = [...denyFloor({ home }), ...(reach.deny ?? [])];
      return new ScopedStorage(new ForwardingStorage(new FsStorage({ home })), { ...reach, deny });
    },
    { seesRaces: false, seesHardLinks: false },
  );
}
