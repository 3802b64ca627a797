import { fuzz } from '@ethosagent/conformance/fuzz';
import {
  createInMemorySessionStore,
  DefaultToolRegistry,
  type ResolvedGrant,
} from '@ethosagent/core';
import { compileHostSet, isWithin, meetPersonalities } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig, QuotaLimits, ToolCapabilities } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { AgentTools } from '../api.js';
import { grantTask } from './grant-task.js';

const TOOLS: Record<string, ToolCapabilities> = {
  fetch: { network: { allowedHosts: ['*'] } },
  api: { network: { allowedHosts: ['api.x.com', '*.y.com', 'localhost'] } },
  files: { fs_reach: { read: 'from-personality', write: 'from-personality' } },
  run: { process: { allowedBinaries: ['git'] } },
  plain: {},
};
const tool = (name: string): AnyTool => ({
  name,
  description: name,
  schema: {},
  capabilities: TOOLS[name] ?? {},
  execute: async () => ({ ok: true, value: '' }),
});

const opt = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const some = <T>(...values: T[]) => fc.subarray(values);
const folders = some('/a', '/a/b', '/a/b/c', '/ab', '/d');
const hosts = some('*', '*.x.com', 'api.x.com', 'a.y.com', 'localhost', '127.0.0.1', 'z.org:8080');
const limits = fc.record({ requests: opt(fc.nat(3)), files_written: opt(fc.nat(3)) });

const personality: fc.Arbitrary<PersonalityConfig> = fc
  .record({
    toolset: opt(some(...Object.keys(TOOLS))),
    read: folders,
    write: folders,
    allow: opt(hosts),
    deny: some('a.y.com', '*.x.com'),
    isOpen: fc.boolean(),
    per_session: limits,
    sandbox: fc.constantFrom<undefined | 'preferred' | 'required'>(
      undefined,
      'preferred',
      'required',
    ),
  })
  .map(({ toolset, read, write, allow, deny, isOpen, per_session, sandbox }) =>
    JSON.parse(
      JSON.stringify({
        id: 'p',
        name: 'P',
        toolset,
        fs_reach: { read, write },
        safety: {
          network: { allow, deny, allow_private_urls: isOpen },
          quotas: { per_session },
          process: { sandbox },
        },
      }),
    ),
  );

/** A registry that knows personalities as the wiring does. */
function worldOf(chain: readonly PersonalityConfig[]) {
  const named = new Map(
    chain.map((config, index) => [`p${index}`, { ...config, id: `p${index}` }]),
  );
  const configOf = (id = ''): PersonalityConfig =>
    id
      .split('/')
      .map((part) => named.get(part) ?? expect.fail(`no ${part}`))
      .reduce((a, b) => meetPersonalities(a, b));
  const registry = new DefaultToolRegistry({
    sessions: createInMemorySessionStore(),
    personalityFsReach: (id) => ({ read: [], write: [], ...configOf(id).fs_reach }),
    personalityNetworkAllow: (id) => configOf(id).safety?.network?.allow ?? null,
    personalityQuotas: (id) => configOf(id).safety?.quotas,
    personalityProcess: (id) => configOf(id).safety?.process,
  });
  registry.registerAll(Object.keys(TOOLS).map(tool));
  const tools: AgentTools = {
    personality: async (id) => configOf(id),
    definitions: async (id) => registry.toDefinitions(configOf(id).toolset),
    tool: (name) => registry.get(name),
    execute: async () => [],
  };
  const grantOf = (id: string, name: string): ResolvedGrant => {
    const networkPolicy = configOf(id).safety?.network;
    const ctx = { sessionId: 's', personalityId: id, ...(networkPolicy && { networkPolicy }) };
    return registry.describe(name, ctx) ?? expect.fail(`no ${name}`);
  };
  return { ids: [...named.keys()], tools, grantOf };
}

const HOSTS = ['x.com', 'api.x.com', 'q.x.com', 'a.y.com', 'localhost', '127.0.0.1', 'z.org'];
const PATHS = ['/', '/a', '/a/b', '/a/b/c/d', '/ab', '/d/e', '/f'];

/** Everything that a grant allows, as words to compare. */
function reached({ network, fs_reach, quotas, process }: ResolvedGrant): Set<string> {
  const all = new Set<string>();
  const allowed = compileHostSet(network?.allowedHosts ?? []);
  const denied = compileHostSet(network?.deny ?? []);
  for (const host of HOSTS) {
    for (const port of [443, 8080]) {
      if (allowed.matches(host, port) && !denied.matches(host, port)) all.add(`${host}:${port}`);
    }
  }
  if (network?.allow_private_urls) all.add('private');
  for (const path of PATHS) {
    for (const way of ['read', 'write'] as const) {
      if (fs_reach?.[way].some((root) => isWithin(path, root))) all.add(`${way} ${path}`);
    }
  }
  const names: (keyof QuotaLimits)[] = ['requests', 'files_written'];
  for (const name of names) {
    for (let amount = 0; amount < 4; amount++) {
      if (amount < (quotas?.per_session?.[name] ?? 4)) all.add(`${name} ${amount}`);
    }
  }
  if (process?.sandbox !== 'required') all.add('without a sandbox where there is none');
  if (process !== undefined && process.sandbox === undefined) all.add('without a sandbox');
  return all;
}

describe('no chain of delegations widens', () => {
  fuzz(
    'what each sub-agent may, by the registry, every one above it may',
    fc.tuple(
      fc.array(personality, { minLength: 2, maxLength: 5 }),
      fc.array(opt(some(...Object.keys(TOOLS))), { minLength: 4, maxLength: 4 }),
    ),
    async ([chain, narrowings]) => {
      const { ids, tools, grantOf } = worldOf(chain);
      let agent = { personalityId: ids[0] ?? '', tools, ref: { id: 's', scopeId: 'x' } };
      for (const [level, other] of ids.slice(1).entries()) {
        const own = (await agent.tools.definitions(agent.personalityId)).map(({ name }) => name);
        const named = narrowings[level]?.filter((name) => own.includes(name));
        const child = await grantTask(agent, {
          personality: other,
          ...(named && { tools: named }),
        });
        const offered = await child.tools.definitions(child.personalityId);
        const others = (await tools.definitions(other)).map(({ name }) => name);
        for (const { name } of offered) {
          expect(named ?? own).toContain(name);
          expect(others).toContain(name);
          const reach = reached(grantOf(child.personalityId, name));
          for (const above of [agent.personalityId, other]) {
            const widest = reached(grantOf(above, name));
            expect([...reach].filter((each) => !widest.has(each))).toEqual([]);
          }
        }
        agent = { ...agent, ...child };
      }
    },
    { runs: { check: 25, nightly: 600, long: 20_000 } },
  );
});
