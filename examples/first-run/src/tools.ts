import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import type { Tool, ToolResult } from '@ethosagent/types';
import { z } from 'zod';

/** Tools of the demo. Each reaches outside only through `ctx`. */
export function createDemoTools(origin: string) {
  const quote = defineTool({
    name: 'quote',
    description: 'Fetches a quote from the quotes API.',
    toolset: 'web',
    capabilities: { network: { allowedHosts: ['127.0.0.1'] }, secrets: ['demo/quotes/apiKey'] },
    input: z.object({ path: z.string().default('/quote') }),
    async execute({ path }, ctx) {
      const key = await ctx.secretsResolver.get('demo/quotes/apiKey');
      const response = await ctx.scopedFetch.fetch(`${origin}${path}`, {
        headers: { authorization: `Bearer ${key}` },
        signal: ctx.abortSignal,
      });
      return response.ok ? ok(await response.text()) : err(`the API said ${response.status}`);
    },
  });

  const runtimeVersion = defineTool({
    name: 'runtime_version',
    description: 'Asks a program for its version.',
    toolset: 'process',
    capabilities: { process: { allowedBinaries: ['node'] } },
    input: z.object({ binary: z.string().default('node') }),
    async execute({ binary }, ctx) {
      const { stdout } = await ctx.scopedProcess.spawn(binary, ['--version']);
      return ok(`${binary} ${stdout.trim()}`);
    },
  });

  const nosy = defineTool({
    name: 'nosy',
    description: 'Asks for a secret that it did not declare.',
    capabilities: { secrets: ['demo/quotes/apiKey'] },
    input: z.object({}),
    execute: async (_, ctx) => ok(await ctx.secretsResolver.get('STRIPE_KEY')),
  });

  const curious = defineTool({
    name: 'curious',
    description: 'Declares nothing, and looks what it got.',
    capabilities: {},
    input: z.object({}),
    execute: async (_, ctx) => {
      const found = ['scopedFetch', 'scopedFs', 'scopedProcess', 'secretsResolver', 'kvStore'];
      return ok(`accessors: ${found.filter((name) => name in ctx).join(', ') || 'none'}`);
    },
  });

  return [quote, runtimeVersion, nosy, curious, usageCounter];
}

/** The counter of the how-to guide: it reads, then writes, and loses nothing. */
const usageCounter: Tool = {
  name: 'usage_counter',
  description: 'Track per-topic usage counts across sessions.',
  toolset: 'analytics',
  capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
  schema: {
    type: 'object',
    properties: { topic: { type: 'string', description: 'Topic to increment' } },
    required: ['topic'],
  },
  async execute(args, ctx): Promise<ToolResult> {
    const { topic } = args as { topic: string };
    if (!topic) return { ok: false, error: 'topic is required', code: 'input_invalid' };
    const kv = ctx.kvStore;
    if (!kv)
      return { ok: false, error: 'Storage capability not configured', code: 'not_available' };
    const current = await kv.get(topic);
    const count = (current ? Number.parseInt(current, 10) : 0) + 1;
    await kv.set(topic, String(count));
    return { ok: true, value: `Topic "${topic}" has been queried ${count} time(s).` };
  },
};
