import { ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { browserSettings, SETTINGS_KEY } from './browser-settings.js';
import { REF_FORM } from './ref-names.js';

/** The fields that all tools of the browser share. */
export const TOOL_BASE = {
  toolset: 'browser',
  settings: browserSettings,
  settingsKey: SETTINGS_KEY,
  outputIsUntrusted: true,
  supportsDryRun: true,
  // The settings give the time limit of a call. This limit is above the highest setting.
  timeoutMs: 360_000,
} as const;

/** The argument that names an element. */
export const refSchema = z
  .string()
  .regex(REF_FORM, 'expected a ref of the last snapshot, e.g. kq15')
  .describe('The ref of an element in the snapshot, e.g. kq15.');

/** Returns the answer of a dry run, which looks at no page. */
export function wouldDo(what: string, provided = 'if a page is open that has it'): ToolResult {
  return ok(`[dry-run] Would ${what}, ${provided}.`, { untrusted: false });
}
