import type { AnyTool, ToolContext, ToolResult } from '@ethosagent/types';

/** Counts the calls of a tool that have not really ended, whatever the registry reports. */
export class RunningCalls {
  #running = 0;

  get count(): number {
    return this.#running;
  }

  /** Stops counting the calls that still run. */
  forget(): void {
    this.#running = 0;
  }

  /** Wraps the tool, so that its calls are counted. */
  watch(tool: AnyTool, timeoutMs: number): AnyTool {
    const { input } = tool;
    return {
      ...tool,
      timeoutMs,
      execute: (args: unknown, ctx: ToolContext) => this.#count(() => tool.execute(args, ctx)),
      ...(input !== undefined && {
        input: {
          parse: (args: unknown) => input.parse(args),
          run: (args: unknown, ctx: ToolContext) => this.#count(() => input.run(args, ctx)),
        },
      }),
    };
  }

  async #count(run: () => Promise<ToolResult>): Promise<ToolResult> {
    this.#running += 1;
    try {
      return await run();
    } finally {
      this.#running = Math.max(0, this.#running - 1);
    }
  }
}
