import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StorageUnderTest, storageConformance } from '@ethosagent/conformance';
import { openGuard } from '@ethosagent/policy';
import { isLongRun } from '@ethosagent/test-support';
import type { Storage } from '@ethosagent/types';
import { realPathAccess } from './access.js';
import { DenyIndex } from './deny-index.js';
import { FsStorage } from './fs-storage.js';
import { GuardedFs } from './guarded-fs.js';
import { InMemoryStorage } from './in-memory-storage.js';
import { ScopedStorage } from './scoped-storage.js';
import { wrapStorage } from './wrap-storage.js';

function onDisk(create: (root: string) => Storage): () => StorageUnderTest {
  return () => {
    const base = mkdtempSync(join(tmpdir(), 'storage-'));
    const root = join(base, 'root');
    return { storage: create(root), root, close: () => rmSync(base, { recursive: true }) };
  };
}

const reachOf = (root: string) => ({ read: [root], write: [root] });

storageConformance(
  'FsStorage',
  onDisk(() => new FsStorage()),
);
storageConformance(
  'FsStorage.contained',
  onDisk((root) => new FsStorage().contained(reachOf(root))),
);
storageConformance(
  'FsStorage without descriptors, as on other systems than Linux, contained',
  onDisk((root) =>
    new GuardedFs(
      { access: realPathAccess, guard: openGuard },
      { maxReadBytes: 50_000_000, denyIndexFor: (deny) => new DenyIndex(deny) },
    ).contained(reachOf(root)),
  ),
);
storageConformance('InMemoryStorage', () => ({ storage: new InMemoryStorage(), root: '/root/x' }));

// They hand each call on to one of the above.
if (isLongRun()) {
  storageConformance(
    'ScopedStorage over FsStorage',
    onDisk((root) => new ScopedStorage(new FsStorage(), reachOf(root))),
  );
  storageConformance('ScopedStorage over InMemoryStorage', () => ({
    storage: new ScopedStorage(new InMemoryStorage(), reachOf('/project')),
    root: '/project/x',
  }));
  storageConformance('wrapStorage around InMemoryStorage', () => ({
    storage: wrapStorage(new InMemoryStorage(), (_call, run) => run()),
    root: '/root/x',
  }));
}
