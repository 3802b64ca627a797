import { MemoryAuditSink } from '@ethosagent/core';
import type { AnyTool, AuditSink, ToolCall } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';

/** Where tools are called from, with the audit of the suite. */
export interface AuditedExit {
  /**
   * Calls a tool as a model would, also one that there is not; what is asked about is approved. What
   * it resolves to, or rejects with, is not looked at.
   */
  call(call: ToolCall): Promise<unknown>;
  /** Ends what the suite opened. */
  close(): Promise<void>;
}

/** What an exit is made of. */
export interface AuditedExitParts {
  tools: readonly AnyTool[];
  /** The names of the tools that the personality is to have. */
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
 * A suite for every place that calls tools: each call becomes one event of the audit, however it
 * ends. Call it in a test file.
 *
 * @param name of the place, for the names of the tests
 * @param create makes the place over the tools and the audit sink that it is given
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
