import type {
  BackgroundProcesses,
  KeyValueStore,
  ScopedAttachments,
  ScopedDelegation,
  ScopedFetch,
  ScopedFs,
  ScopedMemory,
  ScopedProcess,
  ScopedSecretsResolver,
  Storage,
  Tool,
  ToolAccessorName,
  ToolCapabilities,
  ToolContext,
  ToolResult,
} from '@ethosagent/types';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import type { RemediesFor, ToolContextFor } from './tool-context-for.js';
import { defineTool, ok } from './tool-helpers.js';

const base = { name: 'probe', description: 'A probe.' };
const schema = { type: 'object' };

/** The accessors in a context type, whether present or optional. */
type AccessorsIn<T> = Extract<keyof T, ToolAccessorName>;

// Each capability gives exactly its accessors.
expectTypeOf<AccessorsIn<ToolContextFor<Record<never, never>>>>().toBeNever();
expectTypeOf<
  AccessorsIn<ToolContextFor<{ network: { allowedHosts: string[] } }>>
>().toEqualTypeOf<'scopedFetch'>();
expectTypeOf<
  AccessorsIn<ToolContextFor<{ secrets: string[] }>>
>().toEqualTypeOf<'secretsResolver'>();
expectTypeOf<
  AccessorsIn<ToolContextFor<{ storage: { scope: 'session'; kind: 'kv' } }>>
>().toEqualTypeOf<'kvStore'>();
expectTypeOf<AccessorsIn<ToolContextFor<{ fs_reach: { read: string[] } }>>>().toEqualTypeOf<
  'scopedFs' | 'storage'
>();
expectTypeOf<
  AccessorsIn<ToolContextFor<{ process: { allowedBinaries: string[] } }>>
>().toEqualTypeOf<'scopedProcess'>();
expectTypeOf<
  AccessorsIn<ToolContextFor<{ attachments: Record<never, never> }>>
>().toEqualTypeOf<'attachments'>();

// With `input`: the arguments have the type of the schema's output, and the accessors are present.
const everything = defineTool({
  ...base,
  input: z.object({ city: z.string(), days: z.number().default(3) }),
  capabilities: {
    network: { allowedHosts: ['example.org'] },
    secrets: ['key'],
    storage: { scope: 'tool-private', kind: 'kv' },
    fs_reach: { read: 'from-personality', write: 'from-personality' },
    process: { allowedBinaries: ['git'] },
    attachments: {},
  },
  requiresApproval: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
    return args.days > 3;
  },
  async execute(args, ctx) {
    expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
    expectTypeOf(ctx.scopedFetch).toEqualTypeOf<ScopedFetch>();
    expectTypeOf(ctx.secretsResolver).toEqualTypeOf<ScopedSecretsResolver>();
    expectTypeOf(ctx.kvStore).toEqualTypeOf<KeyValueStore>();
    expectTypeOf(ctx.scopedFs).toEqualTypeOf<ScopedFs>();
    expectTypeOf(ctx.scopedProcess).toEqualTypeOf<ScopedProcess>();
    expectTypeOf(ctx.attachments).toEqualTypeOf<ScopedAttachments>();
    expectTypeOf(ctx.storage).toEqualTypeOf<Storage | undefined>();
    expectTypeOf(ctx.abortSignal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(ctx.personalityId).toEqualTypeOf<string | undefined>();
    return ok('');
  },
});
expectTypeOf(everything).toEqualTypeOf<Tool<{ city: string; days: number }>>();

defineTool({
  ...base,
  input: z.object({ at: z.string().transform((text) => text.length) }),
  capabilities: {},
  async execute(args, ctx) {
    expectTypeOf(args.at).toEqualTypeOf<number>();
    expectTypeOf<AccessorsIn<typeof ctx>>().toBeNever();
    // @ts-expect-error no capability is declared
    ctx.scopedFetch;
    // @ts-expect-error no capability is declared
    ctx.secretsResolver;
    // @ts-expect-error no capability is declared
    ctx.kvStore;
    // @ts-expect-error no capability is declared
    ctx.scopedFs;
    // @ts-expect-error no capability is declared
    ctx.scopedProcess;
    // @ts-expect-error no capability is declared
    ctx.attachments;
    // @ts-expect-error no capability is declared
    ctx.storage;
    // @ts-expect-error not in the schema
    args.city;
    return ok('');
  },
});

defineTool({
  ...base,
  input: z.object({}),
  capabilities: { network: { allowedHosts: ['example.org'] } },
  async execute(_args, ctx) {
    expectTypeOf<AccessorsIn<typeof ctx>>().toEqualTypeOf<'scopedFetch'>();
    // @ts-expect-error only `network` is declared
    ctx.kvStore;
    return ok('');
  },
});

// With `schema` and no type argument: the accessors are typed as well, and the arguments are
// unknown.
const plain = defineTool({
  ...base,
  schema,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  async execute(args, ctx) {
    expectTypeOf(args).toBeUnknown();
    expectTypeOf(ctx.kvStore).toEqualTypeOf<KeyValueStore>();
    // @ts-expect-error only `storage` is declared
    ctx.scopedFs;
    return ok('');
  },
});
expectTypeOf(plain).toEqualTypeOf<Tool<unknown>>();

const annotated = defineTool({
  ...base,
  schema,
  capabilities: {},
  async execute(args: { topic: string }, ctx): Promise<ToolResult> {
    // @ts-expect-error no capability is declared
    ctx.kvStore;
    return ok(args.topic);
  },
});
expectTypeOf(annotated).toEqualTypeOf<Tool<{ topic: string }>>();

// With a type argument: the documented context.
const explicit = defineTool<{ topic: string }>({
  ...base,
  schema,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  async execute(args, ctx) {
    expectTypeOf(args).toEqualTypeOf<{ topic: string }>();
    expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
    return ok(args.topic);
  },
});
expectTypeOf(explicit).toEqualTypeOf<Tool<{ topic: string }>>();

// A context that is annotated as the documented one is still accepted.
defineTool({
  ...base,
  schema,
  capabilities: {},
  async execute(_args, ctx: ToolContext) {
    return ok(ctx.kvStore === undefined ? 'none' : 'some');
  },
});

// Capabilities that are only known at run time give optional accessors.
declare const dynamic: ToolCapabilities;
defineTool({
  ...base,
  schema,
  capabilities: dynamic,
  async execute(_args, ctx) {
    expectTypeOf(ctx.kvStore).toEqualTypeOf<KeyValueStore | undefined>();
    return ok('');
  },
});

defineTool({
  ...base,
  schema,
  // @ts-expect-error there is no such capability
  capabilities: { storage: { scope: 'session', kind: 'kv' }, netwrok: { allowedHosts: [] } },
  async execute() {
    return ok('');
  },
});

// @ts-expect-error neither `input` nor `schema`
defineTool({ ...base, capabilities: {}, execute: async () => ok('') });

// Settings have a type in the context and in the function that decides on approval. Without a
// schema they are unknown.
defineTool({
  ...base,
  input: z.object({ city: z.string() }),
  settings: z.strictObject({ count: z.int().default(3) }),
  capabilities: { memory: { access: 'read' }, sessions: { access: 'read' } },
  requiresApproval: ({ city }, { settings }) => {
    expectTypeOf(city).toEqualTypeOf<string>();
    expectTypeOf(settings).toEqualTypeOf<{ count: number }>();
    return settings.count > 3 && 'it asks for many';
  },
  async execute(_args, ctx) {
    expectTypeOf(ctx.settings).toEqualTypeOf<{ count: number }>();
    expectTypeOf<AccessorsIn<typeof ctx>>().toEqualTypeOf<'memory' | 'sessions'>();
    return ok('');
  },
});
defineTool({
  ...base,
  input: z.object({}),
  capabilities: {},
  async execute(_args, { settings }) {
    expectTypeOf(settings).toBeUnknown();
    return ok('');
  },
});

// `background: true` makes `scopedProcess.background` present; anything less leaves it optional.
defineTool({
  ...base,
  input: z.object({}),
  capabilities: { process: { allowedBinaries: ['npm'], background: true } },
  async execute(_args, ctx) {
    expectTypeOf(ctx.scopedProcess.background).toEqualTypeOf<BackgroundProcesses>();
    expectTypeOf(ctx.scopedProcess).toExtend<ScopedProcess>();
    return ok('');
  },
});
defineTool({
  ...base,
  schema,
  capabilities: { process: { allowedBinaries: ['npm'], background: true } },
  async execute(_args, ctx) {
    expectTypeOf(ctx.scopedProcess.background).toEqualTypeOf<BackgroundProcesses>();
    return ok('');
  },
});
expectTypeOf<
  ToolContextFor<{ process: { allowedBinaries: string[]; background: boolean } }>['scopedProcess']
>().toEqualTypeOf<ScopedProcess>();
expectTypeOf<
  ToolContextFor<{ process: { allowedBinaries: string[]; background: false } }>['scopedProcess']
>().toEqualTypeOf<ScopedProcess>();
expectTypeOf<
  ToolContextFor<{
    process?: { allowedBinaries: string[]; background: true };
  }>['scopedProcess']
>().toEqualTypeOf<(ScopedProcess & { background: BackgroundProcesses }) | undefined>();

// If a capability is declared in part, the other methods of its accessor accept no argument.
defineTool({
  ...base,
  input: z.object({}),
  capabilities: {
    fs_reach: { read: 'from-personality' },
    memory: { access: 'read' },
    delegation: {},
  },
  async execute(_args, ctx) {
    expectTypeOf(ctx.scopedFs.read).toEqualTypeOf<ScopedFs['read']>();
    expectTypeOf(ctx.memory.search).toEqualTypeOf<ScopedMemory['search']>();
    expectTypeOf(ctx.delegation.run).toEqualTypeOf<ScopedDelegation['run']>();
    // @ts-expect-error only `read` is declared
    ctx.scopedFs.write('file', 'text');
    // @ts-expect-error only `read` is declared
    ctx.scopedFs.append('file', 'text');
    // @ts-expect-error only `read` is declared
    ctx.scopedFs.remove('file');
    // @ts-expect-error only `read` is declared
    ctx.scopedFs.rename('from', 'to');
    // @ts-expect-error only `read` is declared
    ctx.storage?.mkdir('folder');
    // @ts-expect-error only `read` is declared
    ctx.memory.change({ kind: 'remove', section: 'Facts' });
    // @ts-expect-error `background` is not declared
    ctx.delegation.start({ prompt: 'Look.' });
    // Helpers for the whole accessor or context accept it.
    expectTypeOf(ctx).toExtend<ToolContext>();
    expectTypeOf(ctx.scopedFs).toExtend<ScopedFs>();
    return ok('');
  },
});
defineTool({
  ...base,
  input: z.object({}),
  capabilities: {
    fs_reach: { write: ['out'] },
    memory: { access: 'read-write' },
    delegation: { background: true },
  },
  async execute(_args, ctx) {
    expectTypeOf(ctx.scopedFs.write).toEqualTypeOf<ScopedFs['write']>();
    expectTypeOf(ctx.memory).toEqualTypeOf<ScopedMemory>();
    expectTypeOf(ctx.delegation).toEqualTypeOf<ScopedDelegation>();
    // @ts-expect-error only `write` is declared
    ctx.scopedFs.read('file');
    // @ts-expect-error only `write` is declared
    ctx.storage?.list('folder');
    return ok('');
  },
});

// A context with the documented type is accepted together with a part of a capability.
defineTool({
  ...base,
  input: z.object({}),
  capabilities: { memory: { access: 'read' } },
  async execute(_args, ctx) {
    const whole: ToolContext = ctx;
    return ok(whole.sessionId);
  },
});

// The error for a tool that declares nothing lists every capability.
type Unlisted<K extends string> = K extends keyof ToolCapabilities
  ? RemediesFor<Record<never, never>> extends `${string}${K} for ${string}`
    ? never
    : K
  : never;
expectTypeOf<Unlisted<keyof ToolCapabilities>>().toBeNever();
