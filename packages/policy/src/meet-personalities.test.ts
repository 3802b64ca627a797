import { fuzz } from '@ethosagent/conformance/fuzz';
import type {
  ApprovalPolicy,
  NetworkPolicy,
  PersonalityConfig,
  UntrustedDecision,
} from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAddressAllowed } from './addresses.js';
import { compileArgumentPolicy } from './argument-policy.js';
import { host, pattern } from './fixtures/hosts-arbitraries.js';
import { path } from './fixtures/paths-arbitraries.js';
import {
  argument,
  expand,
  personality,
  REFS,
  TOOL_NAMES,
} from './fixtures/personality-arbitraries.js';
import { compileHostSet, compileNamedMachines, resolveAllowedHosts } from './host-sets.js';
import { isIpLiteral } from './hosts.js';
import { meetPersonalities } from './meet-personalities.js';
import { isWithin, resolveReach } from './paths.js';
import { isPortAllowed } from './ports.js';
import { DEFAULT_PROCESS_LIMITS } from './process-limits.js';
import { secretSource } from './secret-sources.js';

const runs = { check: 60, long: 100_000 };
const meet = (a: PersonalityConfig, b: PersonalityConfig) => meetPersonalities(a, b, { expand });
const base = { id: 'a', name: 'A' };
const other = { id: 'b', name: 'B' };

function allowsTool({ toolset, withheld }: PersonalityConfig, name: string): boolean {
  const isOut = withheld !== undefined && Object.hasOwn(withheld, name.split('_')[0] ?? '');
  return !isOut && (toolset === undefined || expand(toolset).includes(name));
}

/** The decision of the network guard, without the rules that no policy changes. */
function allowsHost(
  policy: NetworkPolicy = {},
  declared: readonly string[],
  [name, port]: readonly [string, number],
): boolean {
  const hosts = resolveAllowedHosts(declared, policy.allow, {
    declaredOnly: policy.declared_only === true,
  });
  const rules = [hosts, policy.allow ?? []].map((list) => compileHostSet(list).matches(name, port));
  if (compileHostSet(policy.deny ?? []).matches(name, port) || rules[0] === undefined) return false;
  const isNamedPort = rules.some((rule) => rule?.endsWith(`:${port}`));
  const address = name === 'localhost' ? '127.0.0.1' : name;
  const named = compileNamedMachines(policy.allow ?? []).matches(name, port) !== undefined;
  return (
    isPortAllowed(port, isNamedPort) &&
    (!isIpLiteral(address) ||
      isAddressAllowed(address, { allowPrivate: policy.allow_private_urls === true || named }))
  );
}

function allowsArguments({ safety }: PersonalityConfig, binary: string, args: string[]): boolean {
  const policies = safety?.process?.arguments ?? {};
  const policy = Object.hasOwn(policies, binary) ? policies[binary] : undefined;
  return policy === undefined || compileArgumentPolicy(policy)(args) === undefined;
}

const place = fc.tuple(
  fc.oneof(host, fc.constantFrom('localhost', '127.0.0.1', '8.8.8.8')),
  fc.constantFrom(80, 443, 8080),
);
const declared = fc.array(fc.oneof(pattern, fc.constantFrom('*', 'localhost')), { maxLength: 3 });

describe('meetPersonalities, whatever the personalities', () => {
  fuzz(
    'allows a tool exactly when both do and set it alike',
    fc.tuple(personality, personality, fc.constantFrom(...TOOL_NAMES)),
    ([a, b, name]) => {
      const met = meet(a, b);
      const alike = !Object.hasOwn(met.withheld ?? {}, name.split('_')[0] ?? '');
      expect(allowsTool(met, name)).toBe(allowsTool(a, name) && allowsTool(b, name) && alike);
      if (JSON.stringify(a.tool_settings) === JSON.stringify(b.tool_settings)) {
        expect(alike).toBe(true);
      }
    },
    { runs },
  );

  fuzz(
    'allows a request exactly when both do',
    fc.tuple(personality, personality, declared, place),
    ([a, b, tool, at]) => {
      const allows = (p: PersonalityConfig) => allowsHost(p.safety?.network, tool, at);
      expect(allows(meet(a, b))).toBe(allows(a) && allows(b));
    },
    { runs: { check: 100, nightly: 4_000, long: 200_000 } },
  );

  const services = fc.array(
    fc.constantFrom('*', '*:6379', 'a.com', 'a.com:6379', '127.0.0.1:6379'),
  );
  const policy = fc.record({ allow: services, allow_private_urls: fc.boolean() });
  fuzz(
    'opens a port of another service only where both do',
    fc.tuple(policy, policy, services, fc.constantFrom('a.com', '127.0.0.1')),
    ([a, b, tool, name]) => {
      const met = meet({ ...base, safety: { network: a } }, { ...other, safety: { network: b } });
      if (!allowsHost(met.safety?.network, tool, [name, 6379])) return;
      expect(allowsHost(a, tool, [name, 6379])).toBe(true);
      expect(allowsHost(b, tool, [name, 6379])).toBe(true);
    },
    { runs },
  );

  fuzz(
    'reaches a path exactly when both do',
    fc.tuple(personality, personality, path, fc.constantFrom('read' as const, 'write' as const)),
    ([a, b, asked, way]) => {
      const reaches = ({ fs_reach }: PersonalityConfig) =>
        resolveReach('from-personality', fs_reach?.[way] ?? []).some((root) =>
          isWithin(asked, root),
        );
      expect(reaches(meet(a, b))).toBe(reaches(a) && reaches(b));
    },
    { runs },
  );

  fuzz(
    'passes arguments exactly when both do',
    fc.tuple(
      personality,
      personality,
      fc.constantFrom('git', 'tar', 'ls'),
      fc.array(argument, { maxLength: 3 }),
    ),
    ([a, b, binary, args]) => {
      expect(allowsArguments(meet(a, b), binary, args)).toBe(
        allowsArguments(a, binary, args) && allowsArguments(b, binary, args),
      );
    },
    { runs },
  );

  fuzz(
    'has the smaller cap, the smaller limit, the stricter sandbox and the stricter decision',
    fc.tuple(personality, personality),
    ([a, b]) => {
      const met = meet(a, b);
      const both = (of: (p: PersonalityConfig) => number) =>
        expect(of(met)).toBe(Math.min(of(a), of(b)));
      const none = Number.POSITIVE_INFINITY;
      both((p) => p.safety?.quotas?.per_call?.requests ?? none);
      both((p) => p.safety?.quotas?.per_session?.files_written ?? none);
      both((p) => p.safety?.process?.limits?.memory_mb ?? none);
      both((p) => p.safety?.process?.limits?.processes ?? DEFAULT_PROCESS_LIMITS.processes);
      both((p) => {
        const sandbox = p.safety?.process?.sandbox ?? false;
        return sandbox === false ? 2 : sandbox === 'preferred' ? 1 : 0;
      });
      const loose: UntrustedDecision[] = ['deny', 'ask', 'allow'];
      for (const effect of ['write', 'send', 'spawn'] as const) {
        both((p) => loose.indexOf(p.safety?.untrusted?.[effect] ?? 'ask'));
      }
    },
    { runs },
  );

  fuzz(
    'lets in a server and a plugin, and trusts a tool, exactly when both do',
    fc.tuple(personality, personality, fc.constantFrom('x', 'y'), fc.constantFrom('p', 'q')),
    ([a, b, server, plugin]) => {
      const met = meet(a, b);
      const both = (of: (p: PersonalityConfig) => boolean) => expect(of(met)).toBe(of(a) && of(b));
      both((p) => p.mcp_servers?.includes(server) ?? true);
      both((p) => p.plugins?.includes(plugin) ?? true);
      for (const name of TOOL_NAMES) {
        both((p) => expand(p.safety?.untrusted?.trust ?? []).includes(name));
      }
    },
    { runs },
  );

  fuzz(
    'has a secret behind a ref exactly when both have the same one',
    fc.tuple(personality, personality, fc.constantFrom(...REFS)),
    ([a, b, ref]) => {
      const [left, right, met] = [a, b, meet(a, b)].map(({ safety }) =>
        secretSource(safety?.secrets ?? {}, ref),
      );
      expect(met).toBe(left === right ? left : undefined);
    },
    { runs },
  );

  fuzz(
    'allows the same in whatever order and grouping',
    fc.tuple(personality, personality, personality, declared, place, path),
    ([a, b, c, tool, at, file]) => {
      const facts = (p: PersonalityConfig) => [
        TOOL_NAMES.map((name) => allowsTool(p, name)),
        allowsHost(p.safety?.network, tool, at),
        (p.fs_reach?.read ?? []).some((root) => isWithin(file, root)),
        ['git', 'tar'].map((name) => allowsArguments(p, name, ['ab'])),
        REFS.map((ref) => secretSource(p.safety?.secrets ?? {}, ref)),
        p.safety?.quotas ?? {},
        p.safety?.process?.limits ?? {},
        Object.keys(p.withheld ?? {}).sort(),
      ];
      expect(facts(meet(b, a))).toEqual(facts(meet(a, b)));
      expect(facts(meet(meet(a, b), c))).toEqual(facts(meet(a, meet(b, c))));
      expect(facts(meet(meet(a, b), a))).toEqual(facts(meet(a, b)));
    },
    { runs },
  );

  fuzz('changes neither', fc.tuple(personality, personality), ([a, b]) => {
    const before = structuredClone([a, b]);
    meet(a, b);
    expect([a, b]).toEqual(before);
  });
});

describe('meetPersonalities', () => {
  it('is the personality itself when it meets itself', () => {
    expect(meetPersonalities(base, { ...base })).toBe(base);
  });

  it.each([
    ['a', 'b', 'a/b'],
    ['a/b', 'c', 'a/b/c'],
    ['a/b', 'b', 'a/b'],
    ['a/b', 'a', 'a/b'],
  ])('names the meet of %s and %s %s', (left, right, id) => {
    const met = meetPersonalities({ ...base, id: left }, { ...other, id: right });
    expect(met.id).toBe(id);
  });

  it('joins what the model is told', () => {
    const met = meetPersonalities(
      { ...base, instructions: 'Never push.', description: 'x' },
      { ...other, instructions: 'Review.', description: 'x' },
    );
    expect(met).toMatchObject({ name: 'A, B', instructions: 'Never push.\n\nReview.' });
    expect(met.description).toBe('x');
  });

  it('without `expand` keeps what is written in both', () => {
    const met = meetPersonalities(
      { ...base, toolset: ['file', 'todo_add'] },
      { ...other, toolset: ['read_file', 'todo_add', 'web'] },
    );
    expect(met.toolset).toEqual(['todo_add']);
  });

  it.each<[string, object | undefined, object | undefined, boolean]>([
    ['equal', { max: 1 }, { max: 1 }, false],
    ['different', { max: 1 }, { max: 2 }, true],
    ['absent in the first', undefined, { max: 2 }, true],
    ['absent in the second', { max: 1 }, undefined, true],
    ['empty and absent', {}, undefined, false],
  ])('with settings that are %s withholds the tool or not', (_, left, right, isOut) => {
    const set = (value: object | undefined) =>
      value && { tool_settings: { terminal: { ...value } } };
    const met = meetPersonalities({ ...base, ...set(left) }, { ...other, ...set(right) });
    expect(met.withheld).toEqual(
      isOut ? { terminal: 'a and b set tool_settings.terminal differently' } : undefined,
    );
    // A withheld tool stays withheld in every further meet.
    const again = meetPersonalities(met, { ...other, ...set(right) });
    expect(Object.hasOwn(again.withheld ?? {}, 'terminal')).toBe(isOut);
  });

  it.each<[a: string[] | undefined, b: string[] | undefined, met: string[] | undefined]>([
    [undefined, undefined, undefined],
    [undefined, ['*.x.com'], ['*.x.com']],
    [['*.x.com'], [], []],
    [['*'], ['localhost'], []],
    [['localhost'], ['localhost:8080'], ['localhost:8080']],
    [
      ['*', 'localhost'],
      ['*', 'localhost'],
      ['*', 'localhost'],
    ],
    [undefined, ['127.0.0.1', 'x.com'], ['x.com']],
    [['*'], ['8.8.8.8'], ['8.8.8.8']],
    [['x.com'], ['x.com:6379'], []],
    [['x.com:6379'], ['x.com:6379'], ['x.com:6379']],
  ])('meets the hosts %j and %j to %j', (a, b, met) => {
    const network = (allow: string[] | undefined) => ({ network: allow ? { allow } : {} });
    const safety = meetPersonalities(
      { ...base, safety: network(a) },
      { ...other, safety: network(b) },
    ).safety;
    expect(safety?.network?.allow).toEqual(met);
    expect(safety?.network?.declared_only === true).toBe((a === undefined) !== (b === undefined));
  });

  it('keeps a private host that one names and the other allows with all private ones', () => {
    const met = meetPersonalities(
      { ...base, safety: { network: { allow: ['localhost'] } } },
      { ...other, safety: { network: { allow: ['*'], allow_private_urls: true } } },
    );
    expect(met.safety?.network).toEqual({ allow: ['localhost'] });
  });

  it('drops a folder that is a link to where the other may not go', () => {
    const links: Record<string, string> = { '/data/link': '/outside', '/both': '/real' };
    const realPath = (at: string) => links[at] ?? at;
    const a = { ...base, fs_reach: { read: ['/data/link', '/data/own', '/both'] } };
    const b = { ...other, fs_reach: { read: ['/data', '/both'] } };
    expect(meetPersonalities(a, b, { realPath }).fs_reach?.read).toEqual(['/both', '/data/own']);
  });

  it('holds a limit above the default of a sandbox to that default', () => {
    const process = { sandbox: true, limits: { processes: 4_000, memory_mb: 100 } };
    const met = meetPersonalities({ ...base, safety: { process } }, other);
    expect(met.safety?.process).toEqual({
      sandbox: 'required',
      limits: { processes: DEFAULT_PROCESS_LIMITS.processes, memory_mb: 100 },
    });
  });

  it.each<[ApprovalPolicy | undefined, ApprovalPolicy | undefined, ApprovalPolicy | undefined]>([
    [undefined, undefined, undefined],
    [{}, undefined, { sub_agents: 'none' }],
    [{ grants: ['tool'] }, undefined, { grants: ['tool'], sub_agents: 'none' }],
    [{ grants: ['tool'] }, {}, { grants: ['tool'], sub_agents: 'none' }],
    [
      { grants: ['tool', 'session'] },
      { grants: ['session', 'arguments'] },
      { grants: ['session'], sub_agents: 'none' },
    ],
    [{ grants: [] }, { grants: ['tool'] }, { grants: [], sub_agents: 'none' }],
    [{ sub_agents: 'inherit' }, undefined, { sub_agents: 'none' }],
    [{ sub_agents: 'inherit' }, { sub_agents: 'none' }, { sub_agents: 'none' }],
    [{ sub_agents: 'inherit' }, { sub_agents: 'inherit' }, { sub_agents: 'inherit' }],
  ])('lets nobody say more of approvals than both: %j and %j', (a, b, met) => {
    const of = (approvals: ApprovalPolicy | undefined) => ({
      ...(approvals !== undefined && { safety: { approvals } }),
    });
    for (const [one, another] of [
      [a, b],
      [b, a],
    ]) {
      const { safety } = meetPersonalities({ ...base, ...of(one) }, { ...other, ...of(another) });
      expect(safety?.approvals).toEqual(met);
    }
  });
});
