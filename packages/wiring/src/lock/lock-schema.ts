import type { ResolvedGrant } from '@ethosagent/core';
import { STORAGE_SCOPES } from '@ethosagent/types';
import type { z as zodTypes } from 'zod';
import { zod } from '../libraries.js';
import type { ReachLock } from './reach-lock.js';
import { LOCK_VERSION } from './reach-lock.js';

type LockFile = ReachLock & { version: typeof LOCK_VERSION };

let schema: zodTypes.ZodType<LockFile> | undefined;

/** The schema of a lock's file. It is made at the first use. */
export function lockSchema(): zodTypes.ZodType<LockFile> {
  schema ??= makeLockSchema();
  return schema;
}

function makeLockSchema(): zodTypes.ZodType<LockFile> {
  const { z } = zod();
  const texts = z.array(z.string());
  const amount = z.number().min(0);

  const limits = z.strictObject({
    memory_mb: amount.exactOptional(),
    processes: amount.exactOptional(),
    cpu_seconds: amount.exactOptional(),
    file_size_mb: amount.exactOptional(),
    open_files: amount.exactOptional(),
  });

  const quota = z.strictObject({
    requests: amount.exactOptional(),
    bytes_in: amount.exactOptional(),
    bytes_out: amount.exactOptional(),
    process_seconds: amount.exactOptional(),
    files_written: amount.exactOptional(),
    store_bytes: amount.exactOptional(),
  });

  // A part of a grant that is missing here does not compile, since no lock could contain it.
  const grant = z.strictObject({
    network: z
      .strictObject({
        allowedHosts: texts,
        deny: texts.exactOptional(),
        allow_private_urls: z.boolean().exactOptional(),
        privateHosts: texts.exactOptional(),
        servicePorts: texts.exactOptional(),
      })
      .exactOptional(),
    secrets: z
      .array(z.union([z.string(), z.strictObject({ ref: z.string(), hosts: texts })]))
      .exactOptional(),
    secretSources: z.record(z.string(), z.union([z.string(), z.literal(false)])).exactOptional(),
    storage: z.strictObject({ scope: z.literal(STORAGE_SCOPES) }).exactOptional(),
    fs_reach: z
      .strictObject({
        read: texts,
        write: texts,
        deny: texts.exactOptional(),
        leads: z.record(z.string(), z.string()).exactOptional(),
        stays: texts.exactOptional(),
      })
      .exactOptional(),
    process: z
      .strictObject({
        allowedBinaries: texts,
        sandbox: z.literal(['required', 'preferred']).exactOptional(),
        limits: limits.exactOptional(),
        arguments: z
          .record(
            z.string(),
            z.strictObject({
              allow: texts.exactOptional(),
              deny: texts.exactOptional(),
              allow_each: z.array(texts).exactOptional(),
            }),
          )
          .exactOptional(),
        background: z.boolean().exactOptional(),
      })
      .exactOptional(),
    attachments: z.strictObject({ mediaTypes: texts }).exactOptional(),
    memory: z
      .strictObject({ access: z.literal(['read', 'read-write']), scopes: texts })
      .exactOptional(),
    sessions: z
      .strictObject({
        access: z.literal('read'),
        owner: z
          .strictObject({
            scopeId: z.string(),
            userScopeId: z.string().exactOptional(),
            teamId: z.string().exactOptional(),
          })
          .nullable(),
      })
      .exactOptional(),
    service: z.strictObject({ scope: z.literal('session') }).exactOptional(),
    delegation: z.strictObject({ background: z.boolean() }).exactOptional(),
    calls: z.strictObject({ tools: texts }).exactOptional(),
    quotas: z
      .strictObject({ per_call: quota.exactOptional(), per_session: quota.exactOptional() })
      .exactOptional(),
  } satisfies { [Part in keyof Required<ResolvedGrant>]: zodTypes.ZodType });

  const decision = z.literal(['ask', 'allow', 'deny']);

  const tool = z.strictObject({
    tool: z.string(),
    approval: z.literal(['always', 'by-call', 'never']),
    effects: z.array(z.literal(['write', 'send', 'spawn'])),
    untrusted: z.boolean(),
    unconfined: z.boolean(),
    settings: z.string().exactOptional(),
    grant,
  });

  const personality = z.strictObject({
    personality: z.string(),
    approvals: z.strictObject({
      grants: z.array(z.literal(['session', 'arguments', 'tool'])),
      sub_agents: z.literal(['inherit', 'none']),
    }),
    untrusted: z.strictObject({ write: decision, send: decision, spawn: decision, trust: texts }),
    servers: texts,
    tools: z.array(tool),
  });

  return z.strictObject({
    version: z.literal(LOCK_VERSION),
    environment: texts,
    personalities: z.array(personality),
    servers: z.array(
      z.strictObject({ server: z.string(), reached: texts, names: texts, pin: z.string() }),
    ),
    texts: z.array(
      z.strictObject({
        tool: z.string(),
        description: z.string(),
        schema: z.string().exactOptional(),
      }),
    ),
  });
}
