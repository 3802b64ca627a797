import { ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { browserSettings, SETTINGS_KEY } from './browser-settings.js';

/** What all tools of the browser have. */
export const TOOL_BASE = {
  toolset: 'browser',
  settings: browserSettings,
  settingsKey: SETTINGS_KEY,
  outputIsUntrusted: true,
  supportsDryRun: true,
  // The settings say how long a call may take; this is beyond the most that they can say.
  timeoutMs: 360_000,
} as const;

/** The argument that names an element. */
export const refSchema = z
  .string()
  .regex(
    /^d[a-z]{4}\d+(?:f\d+(?:n\d+)?)?e\d+$/,
    'expected a ref of the last snapshot, e.g. dkqzt2e15',
  )
  .describe('The element, by its ref in the last snapshot, e.g. dkqzt2e15.');

/** The answer of a dry run. */
export function wouldDo(what: string, provided = 'if a page is open that has it'): ToolResult {
  return ok(`[dry-run] Would ${what}, ${provided}.`);
}
