// Bundles all scripts that tests start in child processes with one start of the bundler. Bundled alone,
// each script would read most of the repository again. A script that is not in this list is bundled when a
// test asks for it.
import { join } from 'node:path';
import { bundleTogether } from '@ethosagent/test-support';

const SCRIPTS = [
  'extensions/tools-delegation/src/fixtures/host.ts',
  'extensions/tools-file/src/fixtures/growth.ts',
  'extensions/tools-todo/src/fixtures/add-items.ts',
  'packages/agent-loop/src/crash/fixtures/act.ts',
  'packages/agent-loop/src/fixtures/growth.ts',
  'packages/audit/src/fixtures/contend-for-log.ts',
  'packages/audit/src/fixtures/growth.ts',
  'packages/audit/src/fixtures/record-until-killed.ts',
  'packages/cli/src/bin.ts',
  'packages/cli/src/fixtures/recorded-program.ts',
  'packages/core/src/testing/ending-host.ts',
  'packages/core/src/testing/growth.ts',
  'packages/core/src/testing/process-host.ts',
  'packages/core/src/testing/supervised-host.ts',
  'packages/mcp-server/src/fixtures/stdio-program.ts',
  'packages/policy/src/fixtures/growth.ts',
  'packages/storage-fs/src/fixtures/add-to-memory.ts',
  'packages/storage-fs/src/fixtures/few-descriptors.ts',
  'packages/storage-fs/src/fixtures/faults.ts',
  'packages/storage-fs/src/fixtures/growth.ts',
  'packages/storage-fs/src/fixtures/permission-midway.ts',
  'packages/storage-fs/src/fixtures/writer.ts',
  'packages/storage-postgres/src/fixtures/acknowledge.ts',
  'packages/storage-postgres/src/fixtures/append-messages.ts',
  'packages/storage-postgres/src/fixtures/count-up.ts',
  'packages/storage-redis/src/fixtures/work.ts',
  'packages/storage-sqlite/src/fixtures/acknowledge.ts',
  'packages/storage-sqlite/src/fixtures/append-messages.ts',
  'packages/storage-sqlite/src/fixtures/count-up.ts',
  'packages/storage-sqlite/src/fixtures/fill-disk.ts',
  'packages/storage-sqlite/src/fixtures/full-disk.ts',
  'packages/storage-sqlite/src/fixtures/hold-lock.ts',
  'packages/storage-sqlite/src/fixtures/no-descriptors.ts',
  'packages/storage-sqlite/src/fixtures/open-unprivileged.ts',
  'packages/storage-sqlite/src/fixtures/other-abi.ts',
  'packages/storage-sqlite/src/fixtures/other-driver.ts',
  'packages/test-support/src/growth/fixtures/known-growth.ts',
  'packages/test-support/src/growth/measure-growth.ts',
  'packages/test-support/src/in-turn/turns.ts',
  'packages/wiring/src/fixtures/act-as-agent.ts',
  'packages/wiring/src/fixtures/act-in-session.ts',
  'packages/wiring/src/fixtures/faults.ts',
  'packages/wiring/src/fixtures/growth.ts',
];

const root = join(import.meta.dirname, '..');
await bundleTogether(SCRIPTS.map((script) => join(root, script)));
