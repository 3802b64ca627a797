import type { AnyTool, ToolCall } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** A place that calls tools: a runtime, a session, an agent, an adapter or a server. */
export interface ToolExit {
  /** Returns the names of the tools that a caller can see now. */
  listed(): Promise<readonly string[]>;
  /**
   * Calls tools together, by their names, also tools that are not listed. The suite ignores the
   * result, and an error too.
   */
  call(calls: readonly ToolCall[]): Promise<unknown>;
  /**
   * Keeps the definition or the function of a tool that is offered now, and returns a function that
   * calls it later. Absent if a caller of this place can't keep anything.
   */
  keep?(name: string): Promise<(call: ToolCall) => Promise<unknown>>;
  /** Gives the personality these tools, and no others, from now on. */
  setToolset(names: readonly string[]): Promise<void>;
  /** Closes the place. */
  close(): Promise<void>;
}

const DENIED = 'denied_tool';
const ALLOWED = 'allowed_tool';

/** Other spellings of a name, and other names. */
const SPELLINGS = [
  DENIED,
  DENIED.toUpperCase(),
  'denied-tool',
  'deniedTool',
  ` ${DENIED}`,
  `${DENIED} `,
  `${DENIED}\n`,
  `${DENIED}\0`,
  `${DENIED}()`,
  `"${DENIED}"`,
  `functions.${DENIED}`,
  `default_api:${DENIED}`,
  `tools/${DENIED}`,
  `${ALLOWED}/../${DENIED}`,
  `${ALLOWED},${DENIED}`,
  DENIED.replace('d', '\u0501'),
  DENIED.replace('i', '\u0131'),
  DENIED.normalize('NFKD').replace('_', '\uff3f'),
  `\u200b${DENIED}`,
  encodeURIComponent(DENIED).replace('_', '%5F'),
  'mcp__denied__tool',
  `mcp__x__${DENIED}`,
  '__proto__',
  'constructor',
  'toString',
  '',
];

/** Arguments that name another tool. */
const NESTED: unknown[] = [
  { name: DENIED },
  { tool: DENIED, args: {} },
  { toolCallId: 'n', name: DENIED, args: {} },
  { calls: [{ toolCallId: 'n', name: DENIED, args: {} }] },
  { tool_uses: [{ recipient_name: `functions.${DENIED}`, parameters: {} }] },
  JSON.parse(`{"__proto__": {"name": "${DENIED}"}}`),
];

/**
 * Registers tests for a place that calls tools: a tool that the personality denies is not listed
 * and does not run, whatever the name, spelling, nesting, batch, kept definition or race. Call it
 * in a test file.
 *
 * @param name the name of the place, for the names of the tests
 * @param create creates the place with both given tools, for a personality that has only
 * `allowed_tool`
 */
export function toolExitConformance(
  name: string,
  create: (tools: readonly AnyTool[]) => Promise<ToolExit>,
): void {
  describe(`${name}: what the personality denies`, () => {
    let exit: ToolExit;
    let ran: string[];
    let ids = 0;

    const tool = (toolName: string): AnyTool => ({
      name: toolName,
      description: `Is ${toolName}.`,
      schema: { type: 'object', properties: {} },
      capabilities: {},
      async execute() {
        ran.push(toolName);
        return { ok: true, value: `${toolName} ran` };
      },
    });
    const call = (toolName: string, args: unknown = {}): ToolCall => ({
      toolCallId: `exit-${++ids}`,
      name: toolName,
      args,
    });
    /** A call may reject. What matters is which tools ran. */
    const calls = async (...all: ToolCall[]) => {
      await exit.call(all).catch(() => {});
    };
    const denied = () => ran.filter((each) => each !== ALLOWED);

    beforeEach(async () => {
      ran = [];
      exit = await create([tool(ALLOWED), tool(DENIED)]);
    });
    afterEach(() => exit.close());

    it('is not listed, and what it allows is, and runs', async () => {
      expect(await exit.listed()).toEqual([ALLOWED]);
      await calls(call(ALLOWED));
      expect(ran).toEqual([ALLOWED]);
    });

    it('does not run by any name or spelling', async () => {
      for (const spelling of SPELLINGS) await calls(call(spelling));
      expect(denied()).toEqual([]);
    });

    it('does not run beside what is allowed, or twice under one id', async () => {
      const [first, second] = [call(ALLOWED), call(DENIED)];
      await calls(first, second, { ...second, toolCallId: first.toolCallId });
      await calls({ ...second, toolCallId: first.toolCallId }, first);
      expect(denied()).toEqual([]);
    });

    it('does not run for arguments that name it', async () => {
      for (const args of NESTED) await calls(call(ALLOWED, args));
      expect(denied()).toEqual([]);
    });

    it('does not run by what was kept from when it was allowed', async () => {
      await exit.setToolset([ALLOWED, DENIED]);
      expect([...(await exit.listed())].sort()).toEqual([ALLOWED, DENIED]);
      await calls(call(DENIED));
      expect(denied()).toEqual([DENIED]);
      const kept = await exit.keep?.(DENIED);
      await exit.setToolset([ALLOWED]);
      ran = [];
      await kept?.(call(DENIED)).catch(() => {});
      await calls(call(DENIED));
      expect(denied()).toEqual([]);
      expect(await exit.listed()).toEqual([ALLOWED]);
    });

    it('does not run after it was denied, while calls of it are under way', async () => {
      await exit.setToolset([ALLOWED, DENIED]);
      const before = [1, 2, 3].map(() => calls(call(DENIED)));
      await exit.setToolset([ALLOWED]);
      const after = ran.length;
      await Promise.all(before);
      const underWay = denied().length;
      await calls(call(DENIED), call(ALLOWED), call(DENIED));
      expect(denied()).toHaveLength(underWay);
      expect(after).toBeLessThanOrEqual(3);
    });
  });
}
