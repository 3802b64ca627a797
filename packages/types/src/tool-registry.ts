import type { PersonalityConfig } from './personality.js';
import type { Storage } from './storage.js';
import type { AnyTool, ToolAccessorName, ToolContext, ToolFilterOpts, ToolResult } from './tool.js';
import type { CapabilityValidationError, TurnAttachment } from './tool-capabilities.js';

/** A call as the model issued it. */
export interface ToolCall {
  toolCallId: string;
  name: string;
  args: unknown;
}

/** The answer to one call. */
export interface ToolCallResult {
  toolCallId: string;
  name: string;
  result: ToolResult;
  /**
   * The call read a stored text that a session wrote after it had read untrusted content. An
   * adversary may have written the result, whatever its tool says.
   */
  untrusted?: true;
}

/** What the model is told of a tool. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** JSON Schema of the `structured` part of its results, where the tool has one. */
  outputSchema?: Record<string, unknown>;
  /** The model is told of the tool only after it has looked for it. */
  defer?: true;
  /** A result of the tool is the answer: the model is not asked again. */
  returnDirect?: true;
}

/**
 * What the calls of a batch have in common. Accessors in it are ignored, except for `storage`.
 * `resultBudgetChars` is for the whole batch; 80,000 when absent.
 */
export type ToolBatchContext = Omit<ToolContext, ToolAccessorName | 'resultBudgetChars'> & {
  storage?: Storage;
  resultBudgetChars?: number;
};

export interface ToolRegistry {
  /**
   * Adds a tool; the same owner registering again replaces it.
   * @throws `TOOL_NAME_TAKEN` when another owner has the name, `TOOL_INVALID` when it is no tool
   */
  register(tool: AnyTool, opts?: { pluginId?: string }): void;
  /** Registers tools, in their order. Throws as `register`. */
  registerAll(tools: readonly AnyTool[], opts?: { pluginId?: string }): void;
  /** Removes a tool and says whether it was there. */
  unregister(name: string): boolean;
  /** Removes every tool of a plugin and says how many. */
  unregisterPlugin(pluginId: string): number;
  /** The tool of that name. */
  get(name: string): AnyTool | undefined;
  /** Every tool, in order of registration. */
  list(): AnyTool[];
  /** The tools whose `isAvailable` gate is open. */
  getAvailable(): AnyTool[];
  /** The tools that carry this group label. */
  getForToolset(toolset: string): AnyTool[];
  /** What the model is told: the available tools that pass the filters. */
  toDefinitions(allowedTools?: readonly string[], filterOpts?: ToolFilterOpts): ToolDefinition[];
  /** All ways in which registered tools exceed the personality. */
  validateToolsForPersonality(personality: PersonalityConfig): CapabilityValidationError[];
  /** Runs the calls; results come in the order of the calls. Never throws. */
  executeParallel(
    calls: readonly ToolCall[],
    ctx: ToolBatchContext,
    allowedTools?: readonly string[],
    filterOpts?: ToolFilterOpts,
    turnAttachments?: readonly TurnAttachment[],
  ): Promise<ToolCallResult[]>;
}
