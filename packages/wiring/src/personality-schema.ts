import {
  isSecretRef,
  isSourceEntry,
  parseHostPattern,
  parseTrustedSource,
} from '@ethosagent/policy';
import { z } from 'zod';
import { type PathVariables, resolveReachPath } from './substitute.js';

const text = z.string().regex(/\S/u, 'must not be empty');
const names = z.array(text);

const hosts = z.array(
  z
    .string()
    .refine(
      (pattern) => parseHostPattern(pattern) !== null,
      'not a host pattern: write a host, "*.suffix" or "*", without scheme and path',
    ),
);

const network = z.strictObject({
  allow: hosts.exactOptional(),
  deny: hosts.exactOptional(),
  allow_private_urls: z.boolean().exactOptional(),
});

const count = z.int().min(0);
const atLeastOne = z.int().min(1);

const processes = z.strictObject({
  sandbox: z.literal([true, false, 'required', 'preferred']).exactOptional(),
  limits: z
    .strictObject({
      memory_mb: atLeastOne.exactOptional(),
      processes: atLeastOne.exactOptional(),
      cpu_seconds: atLeastOne.exactOptional(),
      file_size_mb: atLeastOne.exactOptional(),
      open_files: atLeastOne.exactOptional(),
    })
    .exactOptional(),
  arguments: z
    .record(text, z.strictObject({ allow: names.exactOptional(), deny: names.exactOptional() }))
    .exactOptional(),
});

const quota = z.strictObject({
  requests: count.exactOptional(),
  bytes_in: count.exactOptional(),
  bytes_out: count.exactOptional(),
  process_seconds: z.number().min(0).exactOptional(),
  files_written: count.exactOptional(),
  store_bytes: count.exactOptional(),
});

const quotas = z.strictObject({
  per_call: quota.exactOptional(),
  per_session: quota.exactOptional(),
});

const decision = z.literal(['ask', 'allow', 'deny']);

/**
 * Names of tools and groups stay the same. Sources get their normal spelling, with absolute paths.
 */
function trusted(variables: PathVariables) {
  return z.array(
    text.transform((entry, ctx) => {
      if (!isSourceEntry(entry)) return entry;
      const source = resolveSource(entry, variables);
      if (source.ok) return source.text;
      ctx.addIssue(`${entry} ${source.problem}`);
      return z.NEVER;
    }),
  );
}

function resolveSource(entry: string, variables: PathVariables) {
  if (!/^(?:\/|\$)/.test(entry)) return parseTrustedSource(entry);
  const isTree = entry.endsWith('/**');
  const path = resolveReachPath(isTree ? entry.slice(0, -3) || '/' : entry, variables);
  if (!path.ok) return { ok: false as const, problem: path.message };
  return parseTrustedSource(isTree ? `${path.path}/**` : path.path);
}

const ref = z
  .string()
  .refine(isSecretRef, 'not a secret ref: write one whole name, such as "providers/brave/apiKey"');

const approvals = z.strictObject({
  grants: z.array(z.literal(['session', 'arguments', 'tool'])).exactOptional(),
  sub_agents: z.literal(['inherit', 'none']).exactOptional(),
});

function safetyOf(variables: PathVariables) {
  const untrusted = z.strictObject({
    write: decision.exactOptional(),
    send: decision.exactOptional(),
    spawn: decision.exactOptional(),
    trust: trusted(variables).exactOptional(),
  });
  return z.strictObject({
    network: network.exactOptional(),
    secrets: z.record(ref, z.union([ref, z.literal(false)])).exactOptional(),
    process: processes.exactOptional(),
    quotas: quotas.exactOptional(),
    untrusted: untrusted.exactOptional(),
    approvals: approvals.exactOptional(),
  });
}

/**
 * The schema of a personality's file. Parsing replaces the entries of `fs_reach`, and the paths in
 * `safety.untrusted.trust`, by absolute paths.
 */
export function personalitySchema(variables: PathVariables) {
  const paths = z.array(
    z.string().transform((entry, ctx) => {
      const result = resolveReachPath(entry, variables);
      if (result.ok) return result.path;
      ctx.addIssue(result.message);
      return z.NEVER;
    }),
  );
  const reach = z.strictObject({ read: paths.exactOptional(), write: paths.exactOptional() });
  return z.strictObject({
    name: text,
    description: z.string().exactOptional(),
    instructions: z.string().exactOptional(),
    toolset: names.exactOptional(),
    fs_reach: reach.exactOptional(),
    safety: safetyOf(variables).exactOptional(),
    // Each tool checks its own settings.
    tool_settings: z.record(text, z.record(z.string(), z.unknown())).exactOptional(),
    mcp_servers: names.exactOptional(),
    plugins: names.exactOptional(),
  });
}
