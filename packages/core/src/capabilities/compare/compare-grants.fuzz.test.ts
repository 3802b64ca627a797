import { fuzz } from '@ethosagent/conformance/fuzz';
import { meetPersonalities } from '@ethosagent/policy';
import { assertArguments } from '@ethosagent/process';
import { InMemoryStorage } from '@ethosagent/storage-fs';
import { countTries, isLongRun } from '@ethosagent/test-support';
import {
  errorCodeOf,
  type KeyValueStore,
  type NetworkPolicy,
  type PersonalityConfig,
  type ToolCapabilities,
} from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CapabilityBackends } from '../../backends.js';
import { CapabilityPlan } from '../../capability-resolver.js';
import { createInMemoryKvStore } from '../../in-memory-kv.js';
import { createInMemoryMemory } from '../../in-memory-memory.js';
import { CallQuotas } from '../../quotas/call-quotas.js';
import { Meter } from '../../quotas/meter.js';
import { ScopedAttachmentsImpl } from '../../scoped/scoped-attachments.js';
import type { ResolvedGrant } from '../resolved-grant.js';
import { compareGrants } from './compare-grants.js';

type Policy = Pick<PersonalityConfig, 'fs_reach' | 'safety'>;

/** A tool under a personality. */
interface World {
  declared: ToolCapabilities;
  policy: Policy;
  denyPaths: string[];
}

const HOSTS = [
  'a.test',
  'b.a.test',
  'c.b.a.test',
  'other.test',
  '*.a.test',
  '*.b.a.test',
  '*',
  'localhost',
  '127.0.0.1',
  '10.0.0.5',
  '8.8.8.8',
  '::ffff:10.0.0.5',
  'a.test:443',
  'a.test:5432',
  '*.a.test:5432',
  '*:5432',
  '127.0.0.1:5432',
  '10.0.0.5:8080',
  '*:8080',
  'localhost:6379',
];
const NAMES = [
  'a.test',
  'b.a.test',
  'c.b.a.test',
  'other.test',
  'localhost',
  'x.localhost',
  '127.0.0.1',
  '10.0.0.5',
  '8.8.8.8',
  '[::ffff:10.0.0.5]',
];
const ADDRESSES = ['93.184.216.34', '8.8.8.8', '10.0.0.5', '127.0.0.1', '169.254.169.254'];
const FOLDERS = ['/', '/w', '/w/a', '/w/a/b', '/w/ab', '/x', '/x/y'];
const FILES = ['/w/f', '/w/a/f', '/w/a/b/f', '/w/ab/f', '/x/f', '/x/y/f', '/w/a/b', '/x/y', '/v'];
const REFS = ['k', 'k/a', 'k/a/b', 'k/*', 'k/a/*', 'm/*', 'm/n'];
const KEPT = ['k', 'k/a', 'k/a/b', 'm/n', 'own'];
const TYPES = ['*/*', 'image/pn', 'image/*', 'image/png', 'IMAGE/PNG', 'text/*', 'text/plain'];
const PATTERNS = ['-c', '--exec', 'x*', '*', '-*', 'status'];
const ARGUMENTS = ['-c', '--exec=x', 'xy', 'status', '-v'];

const some = <T>(items: readonly T[], maxLength = 4) =>
  fc.array(fc.constantFrom(...items), { maxLength });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

/** A record without the keys whose value is `undefined`. */
function record<T extends Record<string, unknown>>(parts: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc
    .record(parts)
    .map((value) =>
      Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)),
    );
}

const rule = record({
  allow: maybe(some(PATTERNS)),
  deny: maybe(some(PATTERNS)),
  allow_each: maybe(fc.array(some(PATTERNS), { maxLength: 2 })),
});
const limits = record({
  memory_mb: maybe(fc.constantFrom(64, 512)),
  processes: maybe(fc.constantFrom(8, 512, 600)),
});
const caps = record({
  requests: maybe(fc.constantFrom(0, 1, 10)),
  bytes_in: maybe(fc.constantFrom(0, 100)),
  process_seconds: maybe(fc.constantFrom(0, 2)),
  store_bytes: maybe(fc.constantFrom(0, 50)),
});
const secretSources = fc.dictionary(
  fc.constantFrom('k', 'k/a', 'm/n'),
  fc.constantFrom<string | false>(...KEPT, false),
  { maxKeys: 2 },
);
const policyArbitrary: fc.Arbitrary<Policy> = record({
  fs_reach: maybe(record({ read: maybe(some(FOLDERS)), write: maybe(some(FOLDERS)) })),
  safety: maybe(
    record({
      network: maybe(
        record({
          allow: maybe(some(HOSTS)),
          deny: maybe(some(HOSTS, 2)),
          allow_private_urls: maybe(fc.boolean()),
        }),
      ),
      process: maybe(
        record({
          sandbox: maybe(fc.constantFrom(true, false, 'required', 'preferred')),
          limits: maybe(limits),
          arguments: maybe(fc.dictionary(fc.constantFrom('git', 'tar'), rule, { maxKeys: 2 })),
        }),
      ),
      secrets: maybe(secretSources),
      quotas: maybe(record({ per_call: maybe(caps), per_session: maybe(caps) })),
    }),
  ),
});

const paths = maybe(fc.oneof(fc.constant('from-personality'), some(FOLDERS)));
const SPECIFIC = HOSTS.filter((host) => host !== '*');
const secret = fc.oneof(
  fc.constantFrom(...REFS),
  fc.record({
    ref: fc.constantFrom(...REFS),
    hosts: fc.array(fc.constantFrom(...SPECIFIC), { minLength: 1, maxLength: 2 }),
  }),
);
const declaredArbitrary: fc.Arbitrary<ToolCapabilities> = record({
  network: maybe(fc.record({ allowedHosts: some(HOSTS) })),
  secrets: maybe(fc.array(secret, { maxLength: 3 })),
  storage: maybe(
    fc.record({
      scope: fc.constantFrom('tool-private', 'session', 'personality'),
      kind: fc.constant('kv'),
    }),
  ),
  fs_reach: maybe(record({ read: paths, write: paths })),
  process: maybe(
    record({
      allowedBinaries: some(['git', 'tar', '*', '/bin/none'], 2),
      sandbox: maybe(fc.constant('required')),
      background: maybe(fc.boolean()),
    }),
  ),
  attachments: maybe(record({ mediaTypes: maybe(some(TYPES)) })),
  memory: maybe(fc.record({ access: fc.constantFrom('read', 'read-write') })),
});

const worldArbitrary: fc.Arbitrary<World> = fc.record({
  declared: declaredArbitrary,
  policy: policyArbitrary,
  denyPaths: some(['/w/a', '/w/a/b', '/x'], 1),
});

/** Two worlds that mostly differ in a single part. */
const pairArbitrary = fc
  .tuple(worldArbitrary, worldArbitrary, fc.nat({ max: 11 }), fc.nat({ max: 255 }))
  .map(([before, other, part, mask]) => {
    const { declared, policy, denyPaths } = before;
    const safety = policy.safety ?? {};
    const theirs = other.policy.safety ?? {};
    const withSafety = (own: NonNullable<Policy['safety']>): World => ({
      ...before,
      policy: { ...policy, safety: { ...safety, ...own } },
    });
    const variants: World[] = [
      { ...before, declared: mix(declared, other.declared, mask) },
      { ...before, declared: { ...declared, ...partOf(other.declared, 'network') } },
      { ...before, declared: { ...declared, ...partOf(other.declared, 'secrets') } },
      { ...before, declared: { ...declared, ...partOf(other.declared, 'fs_reach') } },
      { ...before, policy: { ...policy, ...partOf(other.policy, 'fs_reach') } },
      { ...before, denyPaths: other.denyPaths },
      withSafety(partOf(theirs, 'network')),
      withSafety({ network: mix(safety.network ?? {}, theirs.network ?? {}, mask) }),
      withSafety({ network: mix(safety.network ?? {}, theirs.network ?? {}, mask >> 3) }),
      withSafety(partOf(theirs, 'process')),
      withSafety(partOf(theirs, 'quotas')),
      { declared: mix(declared, other.declared, mask), policy: other.policy, denyPaths },
    ];
    return { before, after: variants[part] ?? other };
  });

function partOf<T extends object, K extends keyof T>(one: T, key: K): Partial<Pick<T, K>> {
  const found: Partial<Pick<T, K>> = {};
  if (Object.hasOwn(one, key)) found[key] = one[key];
  return found;
}

/** `one`, with some of its parts taken from `other`. */
function mix<T extends object | undefined>(one: T, other: T, mask: number): T {
  if (one === undefined || other === undefined) return (mask & 1) === 0 ? one : other;
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.assign(
    Object.create(Object.prototype),
    one,
    Object.fromEntries(
      keys.flatMap((key, index) =>
        ((mask >> index) & 1) === 1 && Object.hasOwn(other, key) ? [[key, Object(other)[key]]] : [],
      ),
    ),
  );
}

type Access =
  | { kind: 'fetch'; host: string; port: number; address: string }
  | { kind: 'read' | 'write' | 'remove'; path: string }
  | { kind: 'get'; ref: string }
  | { kind: 'send'; ref: string; host: string; address: string }
  | { kind: 'store'; namespace: string }
  | { kind: 'run'; binary: string }
  | { kind: 'arguments'; binary: string; args: string[] }
  | { kind: 'attachment'; mediaType: string }
  | { kind: 'remember' }
  | { kind: 'spend'; quota: 'requests' | 'bytes_in'; amount: number };

const accessArbitrary: fc.Arbitrary<Access> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('fetch' as const),
      host: fc.constantFrom(...NAMES),
      port: fc.constantFrom(443, 443, 5432, 8080, 6379),
      address: fc.constantFrom(...ADDRESSES),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('read' as const, 'write' as const, 'remove' as const),
      path: fc.constantFrom(...FILES),
    }),
  },
  fc.record({
    kind: fc.constant('get' as const),
    ref: fc.constantFrom(...KEPT),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      ref: fc.constantFrom(...KEPT),
      host: fc.constantFrom(...NAMES),
      address: fc.constantFrom(...ADDRESSES),
    }),
  },
  fc.record({
    kind: fc.constant('store' as const),
    namespace: fc.constantFrom('tool:t', 'session:s', 'personality:p'),
  }),
  fc.record({
    kind: fc.constant('run' as const),
    binary: fc.constantFrom('/bin/none', '/bin/nothing'),
  }),
  fc.record({
    kind: fc.constant('arguments' as const),
    binary: fc.constantFrom('git', 'tar'),
    args: fc.array(fc.constantFrom(...ARGUMENTS), { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant('attachment' as const),
    mediaType: fc.constantFrom(
      'image/pn',
      'image/png',
      'image/gif',
      'text/plain; charset=utf-8',
      'a/b',
    ),
  }),
  fc.constant({ kind: 'remember' as const }),
  fc.record({
    kind: fc.constant('spend' as const),
    quota: fc.constantFrom('requests' as const, 'bytes_in' as const),
    amount: fc.constantFrom(1, 5, 50, 500),
  }),
);

const CTX = { sessionId: 's', personalityId: 'p', workingDir: '/w' };

async function storageOf(): Promise<InMemoryStorage> {
  const storage = new InMemoryStorage();
  for (const path of ['/w/f', '/w/a/f', '/w/a/b/f', '/w/ab/f', '/x/f', '/x/y/f']) {
    await storage.write(path, 'text');
  }
  return storage;
}

function backendsOf(
  { policy, denyPaths }: World,
  more: Partial<CapabilityBackends> = {},
): CapabilityBackends {
  return { personality: () => policy, denyPaths, processEnv: { PATH: '' }, ...more };
}

const turnOf = ({ policy }: World) => ({
  ...CTX,
  ...(policy.safety?.network !== undefined && { networkPolicy: policy.safety.network }),
});

function grantOf(world: World): ResolvedGrant {
  return new CapabilityPlan('t', world.declared, backendsOf(world)).describe(turnOf(world));
}

const DENIALS = new Set([
  'HOST_NOT_ALLOWED',
  'SECRET_NOT_DECLARED',
  'SECRET_NOT_BOUND',
  'PATH_NOT_REACHABLE',
  'BINARY_NOT_ALLOWED',
  'ATTACHMENT_NOT_AVAILABLE',
  'MEMORY_NOT_WRITABLE',
  'QUOTA_EXCEEDED',
]);

/** Whether something is not denied. A failure for another reason is not a denial. */
async function passes(run: () => unknown): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined) throw error;
    return !DENIALS.has(code);
  }
}

const PARTS: Record<Access['kind'], readonly (keyof ToolCapabilities)[]> = {
  fetch: ['network'],
  get: ['secrets'],
  send: ['network', 'secrets'],
  read: ['fs_reach'],
  write: ['fs_reach'],
  remove: ['fs_reach'],
  store: ['storage'],
  run: ['process'],
  arguments: ['process'],
  attachment: ['attachments'],
  remember: ['memory'],
  spend: [],
};

/** Whether a call of the tool may make the access, according to its accessors. */
async function isAllowed(world: World, access: Access): Promise<boolean> {
  const asked: (string | undefined)[] = [];
  const sent: string[] = [];
  // Only the capabilities that the access needs: the others would only take time.
  const own = PARTS[access.kind].flatMap((key) => {
    const declared = world.declared[key];
    return declared === undefined ? [] : [[key, declared]];
  });
  const bind = (more: Partial<CapabilityBackends> = {}) => {
    const plan = new CapabilityPlan('t', Object.fromEntries(own), backendsOf(world, more));
    const ctx = turnOf(world);
    return plan.bind({ ctx, policy: plan.policyOf(ctx) });
  };
  const network = (address: string): Partial<CapabilityBackends> => ({
    lookup: async () => [{ address, family: 4 }],
    fetch: async (_url, init) => {
      sent.push(new Headers(init?.headers).get('x-key') ?? '');
      return new Response('');
    },
    secretsBackend: async (ref) => `value of ${ref}`,
  });
  switch (access.kind) {
    case 'fetch': {
      const { scopedFetch } = bind(network(access.address));
      return (
        scopedFetch !== undefined &&
        passes(() => scopedFetch.fetch(`https://${access.host}:${access.port}/`))
      );
    }
    case 'get': {
      const { secretsResolver } = bind(network('8.8.8.8'));
      for (const ref of KEPT) await passes(async () => asked.push(await secretsResolver?.get(ref)));
      return asked.includes(`value of ${access.ref}`);
    }
    case 'send': {
      const { secretsResolver, scopedFetch } = bind(network(access.address));
      if (secretsResolver === undefined || scopedFetch === undefined) return false;
      for (const way of ['get', 'handle'] as const) {
        for (const ref of KEPT) {
          await passes(async () => {
            const value = await secretsResolver[way](ref);
            await scopedFetch.fetch(`https://${access.host}/`, { headers: { 'x-key': value } });
          });
        }
      }
      return sent.includes(`value of ${access.ref}`);
    }
    case 'read':
    case 'write':
    case 'remove': {
      const { scopedFs } = bind({ storage: await storageOf() });
      if (scopedFs === undefined) return false;
      if (access.kind === 'read') return passes(() => scopedFs.read(access.path));
      if (access.kind === 'write') return passes(() => scopedFs.write(access.path, ''));
      return passes(() => scopedFs.remove(access.path, { recursive: true }));
    }
    case 'store': {
      const factory = (tool: string, namespace: string): KeyValueStore => {
        asked.push(namespace);
        return createInMemoryKvStore().kvStoreFactory(tool, namespace);
      };
      await bind({ kvStoreFactory: factory }).kvStore?.get('x');
      return asked.includes(access.namespace);
    }
    case 'run': {
      const { scopedProcess } = bind();
      return scopedProcess !== undefined && passes(() => scopedProcess.spawn(access.binary, []));
    }
    case 'arguments': {
      const { allowedBinaries = [] } = world.declared.process ?? {};
      if (!allowedBinaries.includes(access.binary) && !allowedBinaries.includes('*')) return false;
      const rules = world.policy.safety?.process?.arguments;
      return passes(() =>
        assertArguments(access.binary, `/none/${access.binary}`, access.args, rules),
      );
    }
    case 'attachment': {
      const declared = world.declared.attachments;
      if (declared === undefined) return false;
      const info = { id: '1', name: 'a', mediaType: access.mediaType, sizeBytes: 0 };
      const attachments = [{ ...info, bytes: new Uint8Array() }];
      return passes(() => new ScopedAttachmentsImpl(attachments, declared).read('1'));
    }
    case 'remember': {
      const { memory } = bind({ memory: createInMemoryMemory() });
      return (
        memory !== undefined &&
        passes(() => memory.change({ kind: 'add', section: 'a', text: 'b' }))
      );
    }
    case 'spend': {
      const quotas = new CallQuotas(world.policy.safety?.quotas ?? {}, new Meter());
      return passes(() => quotas.spend(access.quota, access.amount));
    }
  }
}

/** Worlds of one kind, so that the differing part decides most accesses of that kind. */
interface Focus {
  runs: { check: number; nightly?: number; long: number };
  kinds: readonly Access['kind'][];
  pair: fc.Arbitrary<{ before: World; after: World }>;
}

/** Lists that mostly cover something. */
const hostList: fc.Arbitrary<string[]> = fc.oneof(
  fc.constant<string[]>(['*']),
  fc.array(fc.constantFrom(...HOSTS), { minLength: 1, maxLength: 4 }),
);
const networkPolicy = record({
  allow: fc.option(hostList, { nil: undefined, freq: 9 }),
  deny: maybe(some(HOSTS, 1)),
  allow_private_urls: maybe(fc.boolean()),
});
const FOCUSES: readonly Focus[] = [
  {
    runs: { check: 30, nightly: 3_000, long: 100_000 },
    kinds: ['fetch', 'get', 'send'],
    pair: fc
      .record({
        hosts: hostList,
        secrets: fc.array(secret, { maxLength: 2 }),
        network: networkPolicy,
        sources: secretSources,
        other: fc.record({
          hosts: hostList,
          secrets: fc.array(secret, { maxLength: 2 }),
          network: networkPolicy,
          sources: secretSources,
        }),
        part: fc.nat({ max: 6 }),
      })
      .map(({ other, part, ...one }) => {
        const world = ({ hosts, secrets, network, sources }: typeof one): World => ({
          declared: { network: { allowedHosts: hosts }, secrets },
          policy: { safety: { network, secrets: sources } },
          denyPaths: [],
        });
        const { allow, deny, ...rest } = one.network;
        const theirs = other.network;
        const networks: NetworkPolicy[] = [
          { ...one.network, ...partOf(theirs, 'allow') },
          { ...rest, ...partOf(one.network, 'allow'), ...partOf(theirs, 'deny') },
          {
            ...partOf(one.network, 'allow'),
            ...partOf(one.network, 'deny'),
            ...partOf(theirs, 'allow_private_urls'),
          },
        ];
        const network = networks[part];
        return {
          before: world(one),
          after: world(
            network !== undefined
              ? { ...one, network }
              : part === 3
                ? { ...one, hosts: other.hosts }
                : part === 4
                  ? { ...one, secrets: other.secrets }
                  : part === 5
                    ? { ...one, sources: other.sources }
                    : other,
          ),
        };
      }),
  },
  {
    runs: { check: 25, nightly: 1_250, long: 20_000 },
    kinds: ['read', 'write', 'remove'],
    pair: fc
      .record({
        declared: record({ read: paths, write: paths }),
        fs_reach: record({ read: some(FOLDERS), write: some(FOLDERS) }),
        denyPaths: some(['/w/a', '/w/a/b', '/x'], 1),
        other: fc.record({
          declared: record({ read: paths, write: paths }),
          fs_reach: record({ read: some(FOLDERS), write: some(FOLDERS) }),
          denyPaths: some(['/w/a', '/w/a/b', '/x'], 1),
        }),
        mask: fc.nat({ max: 7 }),
      })
      .map(({ declared, fs_reach, denyPaths, other, mask }) => {
        const world = (own: {
          declared: object;
          fs_reach: object;
          denyPaths: string[];
        }): World => ({
          declared: { fs_reach: own.declared },
          policy: { fs_reach: own.fs_reach },
          denyPaths: own.denyPaths,
        });
        const one = { declared, fs_reach, denyPaths };
        return { before: world(one), after: world(mix(one, other, mask)) };
      }),
  },
  {
    runs: { check: 40, nightly: 2_500, long: 100_000 },
    kinds: ['store', 'run', 'arguments', 'attachment', 'remember', 'spend'],
    pair: pairArbitrary,
  },
];

const isBare = ({ declared }: World) => Object.keys(declared).length === 0;

/** The parts of a grant of which at least one must contain the access. */
const TOLD_BY: Record<Access['kind'], readonly (keyof ResolvedGrant)[]> = {
  ...PARTS,
  spend: ['quotas'],
};

describe('compareGrants', () => {
  const gained: Partial<Record<Access['kind'], number>> = {};
  let wasKept = 0;

  for (const { kinds, pair, runs } of FOCUSES) {
    fuzz(
      `says widened, of the part that it is, where one of ${kinds.join(', ')} was denied and is allowed`,
      fc.record({
        pair,
        accesses: fc.array(
          accessArbitrary.filter(({ kind }) => kinds.includes(kind)),
          { minLength: 6, maxLength: 12 },
        ),
      }),
      async ({ pair: { before, after }, accesses }) => {
        const changes = compareGrants(grantOf(before), grantOf(after));
        for (const access of accesses) {
          // A tool that reaches nothing has no caps, since it uses nothing up.
          if (access.kind === 'spend' && (isBare(before) || isBare(after))) continue;
          if (!(await isAllowed(after, access))) continue;
          if (await isAllowed(before, access)) {
            wasKept += 1;
            continue;
          }
          gained[access.kind] = (gained[access.kind] ?? 0) + 1;
          const isTold = changes.some(
            ({ kind, capability }) =>
              kind === 'widened' && TOLD_BY[access.kind].includes(capability),
          );
          expect(isTold, JSON.stringify({ access, changes })).toBe(true);
        }
      },
      { promised: 'reach', runs },
    );
  }

  // A check tries too few for each kind.
  it.runIf(isLongRun())(
    'was tried with accesses of each kind that were gained, and with those that were kept',
    (context) => {
      for (const kind of Object.keys(PARTS)) expect(gained).toHaveProperty(kind);
      expect(wasKept).toBeGreaterThan(50);
      countTries(
        context,
        'reach',
        Object.values(gained).reduce((sum, count) => sum + count, 0),
      );
    },
  );

  fuzz(
    'finds nothing between a grant and itself',
    worldArbitrary,
    (world) => {
      expect(compareGrants(grantOf(world), grantOf(world))).toEqual([]);
    },
    { runs: { check: 50, nightly: 1_000, long: 30_000 } },
  );

  fuzz(
    'turns around: what is gained one way is lost the other way',
    pairArbitrary,
    ({ before, after }) => {
      const there = compareGrants(grantOf(before), grantOf(after));
      const back = compareGrants(grantOf(after), grantOf(before));
      const kinds = (changes: typeof there, kind: string) =>
        changes.filter((change) => change.kind === kind).map(({ what }) => what);
      expect(kinds(there, 'widened')).toEqual(kinds(back, 'narrowed'));
      expect(kinds(there, 'narrowed')).toEqual(kinds(back, 'widened'));
    },
    { runs: { check: 50, nightly: 1_000, long: 30_000 } },
  );

  fuzz(
    'finds that what two personalities allow together widens neither',
    fc.record({ world: worldArbitrary, other: policyArbitrary }),
    ({ world, other }) => {
      const name = 'x';
      const policy = meetPersonalities(
        { id: 'a', name, ...world.policy },
        { id: 'b', name, ...other },
      );
      const changes = compareGrants(grantOf(world), grantOf({ ...world, policy }));
      // A meet opens two things. A folder that is no longer a root may be moved. A port that a tool
      // declares beside "*" counts as named once "*" covers nothing.
      const gained = changes.filter(
        ({ kind, what }) =>
          kind === 'widened' &&
          !what.startsWith('moving or removing') &&
          !what.endsWith('the port of another service'),
      );
      expect(gained).toEqual([]);
    },
    { runs: { check: 40, nightly: 2_500, long: 100_000 } },
  );
});
