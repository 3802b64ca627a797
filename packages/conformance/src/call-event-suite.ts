import { MemoryAuditSink } from '@ethosagent/core';
import type { AnyTool, AuditSink, ToolCall } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';

/** A place that calls tools, such as an agent or a server, with the audit sink of the suite. */
export interface AuditedExit {
  /**
   * Calls a tool as a model would, and approves the call if it needs approval. The tool may not
   * exist. The suite ignores the result, and an error too.
   */
  call(call: ToolCall): Promise<unknown>;
  /** Closes the place. */
  close(): Promise<void>;
}

/** The tools and the audit sink that a place must use. */
export interface AuditedExitParts {
  tools: readonly AnyTool[];
  /** The names of the tools that the personality has. */
  toolset: readonly string[];
  audit: AuditSink;
}

const number = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

const TOOLS: readonly AnyTool[] = [
  {
    name: 'pay',
    description: 'Pays.',
    schema: number,
    capabilities: {},
    requiresApproval: true,
    execute: async () => ({ ok: true, value: 'paid' }),
  },
  {
    name: 'throwing',
    description: 'Throws.',
    schema: number,
    capabilities: {},
    async execute() {
      throw new TypeError('broken');
    },
  },
  {
    name: 'denied',
    description: 'Is not for this personality.',
    schema: number,
    capabilities: {},
    execute: async () => ({ ok: true, value: 'ran' }),
  },
];

const CALLS: [what: string, name: string, args: unknown, outcome: string][] = [
  ['an approved payment', 'pay', { amount: 1 }, 'ok'],
  ['a wrong argument', 'throwing', { amount: 'x' }, 'input_invalid'],
  ['a throwing tool', 'throwing', { amount: 1 }, 'execution_failed'],
  ['an unknown tool', 'gone', { amount: 1 }, 'not_available'],
  ['a tool that the personality lacks', 'denied', { amount: 1 }, 'not_available'],
];

/**
 * Registers tests for a place that calls tools: each call becomes one event in the audit log,
 * however the call ends. Call it in a test file.
 *
 * @param name the name of the place, for the names of the tests
 * @param create creates the place with the given tools and audit sink
 */
export function callEventConformance(
  name: string,
  create: (parts: AuditedExitParts) => Promise<AuditedExit>,
): void {
  describe(`${name}: the audit`, () => {
    it('has exactly one event for each call', async () => {
      const audit = new MemoryAuditSink();
      const exit = await create({ tools: TOOLS, toolset: ['pay', 'throwing'], audit });
      try {
        const events: unknown[] = [];
        for (const [index, [what, toolName, args]] of CALLS.entries()) {
          const before = audit.calls.length;
          const call = { toolCallId: `event-${index}`, name: toolName, args };
          await Promise.allSettled([exit.call(call)]);
          events.push([
            what,
            audit.calls.slice(before).map((event) => [event.toolName, event.outcome]),
          ]);
        }
        expect(events).toEqual(
          CALLS.map(([what, toolName, , outcome]) => [what, [[toolName, outcome]]]),
        );
      } finally {
        await exit.close();
      }
    });
  });
}
