import { MemoryAuditSink } from '@ethosagent/audit';
import type {
  AnyTool,
  PersonalityConfig,
  ScopedCalls,
  ToolContext,
  ToolResult,
} from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import type { ToolRegistryOptions } from '../batch/batch.js';
import { createInMemorySessionStore } from '../in-memory-sessions.js';
import type { AskHost } from '../session/host-answer.js';
import type { SessionBatchOptions } from '../session/session-api.js';
import { SessionLedgers } from '../session/session-ledgers.js';
import type { ToolSessionParts } from '../session/session-parts.js';
import type { SessionTools } from '../session/session-tools.js';
import { DefaultToolSession } from '../session/tool-session.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { makeTool, ok } from './batch.js';

/** What a call of `program` does. */
export type Program = (calls: ScopedCalls, ctx: ToolContext) => Promise<string>;

export interface CallingWorldOptions {
  tools?: readonly AnyTool[];
  /** The personality's settings of `program`. */
  callable?: unknown;
  /** The tools of the personality; all if absent. */
  toolset?: readonly string[];
  personality?: Partial<PersonalityConfig>;
  approve?: AskHost;
  limits?: ToolSessionParts['limits'];
  registry?: ToolRegistryOptions;
  backends?: CapabilityBackends;
  program?: Partial<AnyTool>;
}

/** A session in which a tool calls tools. */
export function createCallingWorld(options: CallingWorldOptions) {
  const audit = new MemoryAuditSink();
  const settings = { tools: options.callable };
  const registry = new DefaultToolRegistry(
    {
      audit,
      personalityToolSettings: (_, key) => (key === 'program' ? settings : undefined),
      ...options.backends,
    },
    undefined,
    options.registry,
  );
  let run: Program = async () => '';
  registry.registerAll([
    makeTool(
      'program',
      async (_, ctx) => {
        if (ctx.calls === undefined) throw new Error('no accessor');
        return ok(await run(ctx.calls, ctx));
      },
      {
        capabilities: { calls: { tools: 'from-settings' } },
        outputIsUntrusted: true,
        ...options.program,
      },
    ),
    ...(options.tools ?? []),
  ]);
  const personality: PersonalityConfig = { id: 'p', name: 'P', ...options.personality };
  const tools: SessionTools = {
    personality: async () => personality,
    definitions: async () => registry.toDefinitions(options.toolset),
    tool: (name) => registry.get(name),
    execute: (
      calls,
      { host, tools: _, protections: __, personality: ___, attachments, ...facts },
    ) =>
      registry.executeParallel(
        calls,
        {
          sessionKey: 'test:s',
          platform: 'test',
          ...facts,
          workingDir: '/',
          personalityId: 'p',
          emit: () => {},
        },
        options.toolset,
        undefined,
        attachments,
        host,
      ),
  };
  const ledgers = SessionLedgers.of(createInMemorySessionStore());
  const session = new DefaultToolSession({
    id: 's',
    tools,
    personality: 'p',
    activePersonality: () => 'p',
    identity: {},
    approve: options.approve,
    limits: options.limits ?? {},
    ledger: ledgers.ofSession('s', {}),
    ownerLedger: (id) => ledgers.ofOwner(id, {}),
    files: ledgers.files,
    now: Date.now,
  });
  return {
    registry,
    audit,
    session,
    settings,
    /** Runs `program` with this code. Returns the result of its call. */
    async run(program: Program, options: SessionBatchOptions = {}): Promise<ToolResult> {
      run = program;
      const calls = [{ toolCallId: 'outer', name: 'program', args: {} }];
      const [answer] = await session.execute(calls, options);
      if (answer === undefined) throw new Error('no answer');
      return answer.result;
    },
  };
}
