import { type CapabilityBackends, createInMemoryKvStore } from '@ethosagent/core';
import type { AuditEvent, ToolCapabilities, ToolContext, ToolResult } from '@ethosagent/types';
import { batchContext, type CreateRegistry, toolOf } from '../registry/batch.js';

/** Everything that leaves a call. */
export interface Outcome {
  result: ToolResult | undefined;
  messages: string[];
  audit: AuditEvent[];
}

export interface SecretCall {
  /** The value of every ref. */
  value: string;
  execute: (ctx: ToolContext) => unknown;
  capabilities?: ToolCapabilities;
  backends?: CapabilityBackends;
}

/** Runs a tool once. Returns everything that leaves its call. */
export async function runCall(
  create: CreateRegistry,
  { value, execute, capabilities, backends }: SecretCall,
): Promise<Outcome> {
  const audit: AuditEvent[] = [];
  const messages: string[] = [];
  const registry = create({
    secretsBackend: async () => value,
    kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
    personalityNetworkAllow: ['*.test'],
    lookup: async () => [{ address: '127.0.0.1' }],
    audit: { record: (event) => void audit.push(event) },
    ...backends,
  });
  registry.register(
    toolOf('tool', (_args, ctx) => execute(ctx), {
      capabilities: {
        secrets: ['key'],
        network: { allowedHosts: ['*.test'] },
        storage: { scope: 'tool-private', kind: 'kv' },
        ...capabilities,
      },
      timeoutMs: 30_000,
    }),
  );
  const context = batchContext({
    emit: ({ message }) => messages.push(message),
    networkPolicy: { allow_private_urls: true },
  });
  const call = { toolCallId: 'call', name: 'tool', args: {} };
  const [answer] = await registry.executeParallel([call], context);
  return { result: answer?.result, messages, audit };
}
