import type { ToolAccessorName, ToolCapabilities, ToolContext } from '@ethosagent/types';

interface Requirement {
  capability: keyof ToolCapabilities;
  accessor: ToolAccessorName;
  remedy: string;
}

const REQUIREMENTS: readonly Requirement[] = [
  {
    capability: 'network',
    accessor: 'scopedFetch',
    remedy: 'construct the tool registry with capability backends',
  },
  {
    capability: 'secrets',
    accessor: 'secretsResolver',
    remedy: 'give the backends of the tool registry a secretsBackend',
  },
  {
    capability: 'storage',
    accessor: 'kvStore',
    remedy: 'give the backends of the tool registry a kvStoreFactory',
  },
  {
    capability: 'fs_reach',
    accessor: 'scopedFs',
    remedy: 'give the backends of the tool registry a storage',
  },
  {
    capability: 'process',
    accessor: 'scopedProcess',
    remedy: 'construct the tool registry with capability backends',
  },
  {
    capability: 'attachments',
    accessor: 'attachments',
    remedy: 'construct the tool registry with capability backends',
  },
  {
    capability: 'memory',
    accessor: 'memory',
    remedy: 'give the backends of the tool registry a memory provider',
  },
  {
    capability: 'sessions',
    accessor: 'sessions',
    remedy: 'give the backends of the tool registry a session store',
  },
  {
    capability: 'service',
    accessor: 'services',
    remedy: 'call the tool through a tool registry, which holds the services of a session',
  },
  {
    capability: 'delegation',
    accessor: 'delegation',
    remedy: 'call the tool from an agent loop, which runs the sub-agents',
  },
];

/** Says what a context lacks, or `undefined` when it has every accessor that was declared. */
export type FindMissing = (ctx: ToolContext) => string | undefined;

/**
 * Works out once which accessors a tool's context must have.
 *
 * @returns `undefined` for a tool that needs none, so that it pays nothing
 */
export function missingAccessorCheck(
  toolName: string,
  capabilities: ToolCapabilities,
): FindMissing | undefined {
  const required = REQUIREMENTS.filter(({ capability }) => capabilities[capability] !== undefined);
  if (required.length === 0) return undefined;
  const needsBackground = capabilities.process?.background === true;
  return (ctx) => {
    for (const { capability, accessor, remedy } of required) {
      if (ctx[accessor] === undefined) {
        return `${toolName} declares ${capability}, but ctx.${accessor} is missing: ${remedy}`;
      }
    }
    if (needsBackground && ctx.scopedProcess?.background === undefined) {
      return `${toolName} declares process.background, but ctx.scopedProcess.background is missing: call the tool through a tool registry, which holds the processes of a session`;
    }
    return undefined;
  };
}
