import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonlAuditSink, verifyAuditLog } from '@ethosagent/audit';
import { auditAttacks } from '@ethosagent/conformance/attacks';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import type { AuditEvent } from '@ethosagent/types';
import { expect } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { DefaultToolRegistry } from '../tool-registry.js';

auditAttacks('DefaultToolRegistry', (backends) => audited(backends, {}));
auditAttacks('DefaultToolRegistry with batches', (backends) => audited(backends, { batch: true }));

function audited(backends: CapabilityBackends, options: { batch?: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), 'audited-'));
  const path = join(folder, 'audit.jsonl');
  const audit = new JsonlAuditSink({ path, maxBytes: 2 ** 30, ...options });
  const store = createSqliteKvStore({ path: join(folder, 'state.sqlite') });
  const { kvStoreFactory } = store;
  const seen: AuditEvent[] = [];
  const written = openSync(path, 'r');
  let bytes = 0;
  let calls = 0;
  return {
    registry: new DefaultToolRegistry({ ...backends, kvStoreFactory, audit }),
    async events() {
      await audit.flush?.();
      const fresh = Buffer.alloc(fstatSync(written).size - bytes);
      readSync(written, fresh, 0, fresh.length, bytes);
      bytes += fresh.length;
      for (const line of fresh.toString().split('\n').slice(0, -1)) {
        const entry = JSON.parse(line);
        if (entry.kind === 'call') calls += 1;
        else seen.push(entry);
      }
      return seen;
    },
    async close() {
      closeSync(written);
      store.close();
      audit.close();
      expect(await verifyAuditLog({ path })).toMatchObject({
        ok: true,
        events: seen.length + calls,
        problems: [],
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
