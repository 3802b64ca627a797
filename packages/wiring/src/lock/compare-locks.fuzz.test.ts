import { fuzz } from '@ethosagent/conformance/fuzz';
import { untrustedGate } from '@ethosagent/core';
import { countTries } from '@ethosagent/test-support';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareReachLocks } from './compare-locks.js';
import { formatReachLock, parseReachLock } from './lock-text.js';
import { takeLock } from './take-lock.js';

const PLACES = { home: '/agent/.ethos', cwd: '/agent' };

interface World {
  config: PersonalityConfig;
  tool: AnyTool;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
function defined<T>(parts: Record<string, fc.Arbitrary<T | undefined>>) {
  return fc
    .record(parts)
    .map((value) =>
      Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)),
    );
}

const decision = maybe(fc.constantFrom('ask', 'allow', 'deny'));
const worldArbitrary: fc.Arbitrary<World> = fc
  .record({
    untrusted: defined<unknown>({
      write: decision,
      send: decision,
      spawn: decision,
      trust: maybe(fc.subarray(['t', 'web'])),
    }),
    approvals: defined<unknown>({
      grants: maybe(fc.subarray(['session', 'arguments', 'tool'])),
      sub_agents: maybe(fc.constantFrom('inherit', 'none')),
    }),
    tool: defined<unknown>({
      effects: maybe(fc.subarray(['write', 'send', 'spawn'])),
      outputIsUntrusted: maybe(fc.boolean()),
      unconfined: maybe(fc.boolean()),
      requiresApproval: maybe(fc.constantFrom(true, false)),
    }),
    isWide: fc.boolean(),
  })
  .map(({ untrusted, approvals, tool, isWide }) => ({
    config: { id: 'p', name: 'p', safety: { untrusted, approvals } },
    tool: {
      name: 't',
      description: 'd',
      schema: {},
      capabilities: isWide ? { network: { allowedHosts: ['a.test'] } } : {},
      execute: async () => ({ ok: true, value: '' }),
      ...tool,
    },
  }));

const lockOf = ({ config, tool }: World) =>
  takeLock({
    places: PLACES,
    environment: [],
    servers: [],
    // Another property tests the reach.
    personalities: [{ config, tools: [{ tool, grant: {} }] }],
  });

/** How strictly a call is treated after untrusted content was read. */
function strictnessOf({ config, tool }: World): number {
  const gate = untrustedGate(tool, config.safety?.untrusted);
  return gate === undefined ? 0 : 'refuse' in gate ? 2 : 1;
}

const asks = ({ tool: { requiresApproval, unconfined } }: World) =>
  requiresApproval ?? unconfined === true;
const grantsOf = ({ config }: World) =>
  config.safety?.approvals?.grants ?? ['session', 'arguments', 'tool'];
const taints = ({ tool }: World) => tool.outputIsUntrusted ?? tool.unconfined === true;

describe('compareReachLocks', () => {
  let wasLoosened = 0;

  fuzz(
    'says widened where less is asked or refused than before',
    fc.record({ before: worldArbitrary, after: worldArbitrary }),
    ({ before, after }) => {
      const isLooser =
        strictnessOf(after) < strictnessOf(before) ||
        (asks(before) === true && asks(after) !== true) ||
        (taints(before) && !taints(after)) ||
        grantsOf(after).some((scope) => !grantsOf(before).includes(scope));
      if (!isLooser) return;
      wasLoosened += 1;
      const kinds = compareReachLocks(lockOf(before), lockOf(after)).map(({ kind }) => kind);
      expect(kinds).toContain('widened');
    },
    { promised: 'untrusted', runs: { check: 1_000, long: 100_000 } },
  );

  it('was tried with pairs that are looser', (context) => {
    expect(wasLoosened).toBeGreaterThan(100);
    countTries(context, 'untrusted', wasLoosened);
  });

  fuzz(
    'finds nothing between a lock and what is read of its text',
    worldArbitrary,
    (world) => {
      const lock = lockOf(world);
      const read = parseReachLock(formatReachLock(lock, PLACES), { ...PLACES, file: 'reach.lock' });
      expect(read).toEqual(lock);
      expect(compareReachLocks(lock, read)).toEqual([]);
    },
    { runs: { check: 60, nightly: 2_000, long: 20_000 } },
  );
});
