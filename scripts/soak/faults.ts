import { join } from 'node:path';
import { JsonlAuditSink } from '@ethosagent/core';
import type { AuditEvent, AuditSink } from '@ethosagent/types';
import type { ToolRuntimeOptions } from '@ethosagent/wiring';
import type { Random } from './random.js';
import { pause } from './random.js';
import type { World } from './world.js';

const CANARY_ADDRESS = '127.0.0.2';
const METADATA_ADDRESS = '169.254.169.254';

/** The parts of a runtime that fail at random. Call `close` when the runtime is closed. */
export interface Faults {
  options: Partial<ToolRuntimeOptions>;
  close(): void;
}

/** Backends that work, and at times throw, reject, hang, come late or answer garbage. */
export function createFaults(random: Random, world: World): Faults {
  const timers = new Set<NodeJS.Timeout>();
  const never = () => new Promise<never>(() => {});
  const late = <T>(value: T) =>
    new Promise<T>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve(value);
      }, 700);
      timers.add(timer);
    });
  /** Breaks one call in twelve. */
  const faulty = <T>(work: () => Promise<T>, garbage: T): Promise<T> => {
    if (!random.oneIn(12)) return work();
    switch (random.between(1, 5)) {
      case 1:
        throw new Error('a backend that throws');
      case 2:
        return Promise.reject(new Error('a backend that rejects'));
      case 3:
        return never();
      case 4:
        return late(garbage);
      default:
        return Promise.resolve(garbage);
    }
  };
  // Half of the runtimes keep the log that wiring makes.
  const own = random.oneIn(2) ? openAudit(random, world) : undefined;
  return {
    options: {
      secrets: (ref) => faulty(async () => world.secret, ref.slice(0, 0)),
      lookup: (host) => faulty(async () => addressesOf(random, host), []),
      fetch: (url, init) => faulty(() => globalThis.fetch(url, init), new Response('garbage')),
      approve: () => faulty(async () => random.oneIn(2), false),
      ...(own !== undefined && { audit: own.sink }),
    },
    close() {
      own?.close();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

async function addressesOf(random: Random, host: string): Promise<{ address: string }[]> {
  await pause(random.between(0, 5));
  if (host === 'canary.example') return [{ address: CANARY_ADDRESS }];
  if (host === 'nowhere.test') throw new Error('ENOTFOUND');
  const good = { address: '127.0.0.1' };
  if (host !== 'flips.test' || random.oneIn(2)) return [good];
  return random.oneIn(2) ? [good, { address: METADATA_ADDRESS }] : [{ address: METADATA_ADDRESS }];
}

/** A log that sometimes can't be written. Then the access must not happen. */
function openAudit(random: Random, world: World): { sink: AuditSink; close(): void } {
  const log = new JsonlAuditSink({ path: join(world.base, 'own-audit', 'audit.jsonl') });
  const record = (event: AuditEvent) => {
    if (random.oneIn(40)) throw new Error('a sink that throws');
    log.record(event);
  };
  return { sink: { record }, close: () => log.close() };
}
