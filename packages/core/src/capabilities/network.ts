import { meetHosts, parseHostPattern } from '@ethosagent/policy';
import type { NetworkPolicySources } from '../personality-policy.js';
import { ScopedFetchImpl } from '../scoped/scoped-fetch.js';
import type { PolicyCall } from './capability-call.js';
import { defineCapability } from './capability-module.js';
import { GrantCache } from './grant-cache.js';
import { NetworkGrant } from './network-grant.js';
import { listProblem, problem, quote } from './shapes.js';

/** How many milliseconds may pass without any data from the server of a service. */
export const SERVICE_IDLE_MS = 300_000;

/** Hosts, through `scopedFetch`. */
export const network = defineCapability('network', {
  isForServices: true,
  shapeProblem: (declared) => {
    const { allowedHosts }: { allowedHosts?: unknown } = Object(declared);
    return listProblem('network.allowedHosts', allowedHosts);
  },
  malformed: ({ allowedHosts = [] }) =>
    allowedHosts.flatMap((host) =>
      parseHostPattern(host) === null
        ? [problem('network', `${quote(host)} is not a host, *.suffix or *`)]
        : [],
    ),
  exceeding: ({ allowedHosts }, { safety }) => {
    const allow = safety?.network?.allow;
    if (allow === undefined) return [];
    return allowedHosts.flatMap((host) => {
      if (host === '*' || parseHostPattern(host) === null) return [];
      // A host is covered if meeting it with a rule leaves the whole host.
      const whole = meetHosts(host, host);
      return allow.some((rule) => meetHosts(rule, host) === whole)
        ? []
        : [problem('network', `${host} is not covered by the personality's safety.network.allow`)];
    });
  },
  compile: ({ allowedHosts }, { backends }) => {
    const cache = new GrantCache(
      (sources: NetworkPolicySources) => new NetworkGrant(allowedHosts, sources),
    );
    return {
      grant: (call, grants) => {
        const sources = sourcesOf(call);
        const whole = call.service ? new NetworkGrant(allowedHosts, sources) : cache.get(sources);
        const { hosts } = call.narrowing ?? {};
        grants.network = hosts === undefined ? whole : whole.narrowedTo(hosts);
      },
      bind: ({ grants: { network }, scope, service, accessors }) => {
        if (network === undefined) return;
        accessors.scopedFetch = new ScopedFetchImpl(network.hosts, {
          guard: network.guard(backends),
          scope,
          secrets: accessors.secretsResolver,
          idleTimeoutMs: service && SERVICE_IDLE_MS,
        });
      },
      why: (access, { grants: { network }, policy, tool }) =>
        network?.why(access, policy, tool) ?? { declared: 'network.allowedHosts', policy: [] },
      describe: (_call, { network }) => (network ? { network: network.describe() } : {}),
    };
  },
});

function sourcesOf({ policy, ctx }: PolicyCall): NetworkPolicySources {
  return {
    personalityAllow: policy.networkAllow,
    personalityDeny: policy.networkDeny,
    turn: ctx.networkPolicy,
  };
}
