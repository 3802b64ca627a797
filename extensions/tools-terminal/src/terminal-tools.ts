import type { AnyTool } from '@ethosagent/types';
import { createTerminalTool, type TerminalOptions } from './terminal.js';
import { createTerminalReadTool } from './terminal-read.js';
import { createTerminalSendKeysTool } from './terminal-send-keys.js';
import { createTerminalStartTool } from './terminal-start.js';
import { createTerminalStopTool } from './terminal-stop.js';

/** Options of `createTerminalTools`: those of `terminal` and `terminal_start`. */
export type TerminalToolsOptions = TerminalOptions;

/**
 * `terminal`, `terminal_start`, `terminal_read`, `terminal_send_keys` and `terminal_stop`.
 *
 * @param options the policy for commands
 * @returns the tools, to be registered
 */
export function createTerminalTools(options: TerminalToolsOptions = {}): AnyTool[] {
  return [
    createTerminalTool(options),
    createTerminalStartTool(options),
    createTerminalReadTool(),
    createTerminalSendKeysTool(options),
    createTerminalStopTool(),
  ];
}
