import type { AnyTool } from '@ethosagent/types';
import { createTerminalTool } from './terminal.js';
import { createTerminalReadTool } from './terminal-read.js';
import { createTerminalSendKeysTool } from './terminal-send-keys.js';
import type { TerminalOptions } from './terminal-settings.js';
import { createTerminalStartTool } from './terminal-start.js';
import { createTerminalStopTool } from './terminal-stop.js';

/** Options of `createTerminalTools`. They are for all tools that run or type commands. */
export type TerminalToolsOptions = TerminalOptions;

/**
 * Creates `terminal`, `terminal_start`, `terminal_read`, `terminal_send_keys` and `terminal_stop`.
 * All set `supportsDryRun`.
 *
 * @param options the command policy of personalities that set none
 * @returns the five tools, ready to register
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
