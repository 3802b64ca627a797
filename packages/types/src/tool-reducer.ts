import type { ToolResult } from './tool.js';

export interface ToolReducerContext {
  /** The arguments of the call, as they were passed to `execute`. */
  args: unknown;
  turnCount: number;
}

/**
 * Shortens the results of a tool. Deterministic, synchronous, and never throws: one that throws, returns
 * no result, or makes a success of a failure is ignored.
 */
export interface ToolResultReducer {
  /** The exact name of the tool. */
  readonly toolName: string;
  /** The result that the model gets instead. */
  reduce(result: ToolResult, ctx: ToolReducerContext): ToolResult;
}

export interface ToolResultReducerRegistry {
  /**
   * Registers a reducer; the returned function removes it, and may be called twice.
   * @throws `REDUCER_NAME_TAKEN`
   */
  register(reducer: ToolResultReducer): () => void;
  /** The reducer of a tool. */
  get(toolName: string): ToolResultReducer | undefined;
}
