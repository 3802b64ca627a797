import type { AgentLoop, AgentLoopOptions } from '@ethosagent/agent-loop';
import type { ToolRuntime, ToolRuntimeOptions } from '../runtime-api.js';

/** The options of an agent: those of its runtime and of its loop. */
export interface AgentOptions
  extends Omit<ToolRuntimeOptions, 'approve' | 'limits'>,
    Omit<AgentLoopOptions, 'tools' | 'sessions' | 'personality' | 'imageScaler'> {
  /** The limits of the tool registry. `limits` are those of a turn. */
  toolLimits?: ToolRuntimeOptions['limits'];
}

/** An agent: a loop, and the runtime with its tools. */
export interface Agent {
  readonly loop: AgentLoop;
  readonly runtime: ToolRuntime;
  /** Ends all turns, their sub-agents, and what tools left running. Then closes the stores. */
  close(): Promise<void>;
}
