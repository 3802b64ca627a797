import { answerDryRun } from './answer-dry-run.js';
import { askApproval } from './ask-approval.js';
import { askBeforeCall } from './ask-before-call.js';
import { exchangeUse } from './exchange-use.js';
import {
  answerByHost,
  applyFilters,
  checkAvailability,
  copyArguments,
  findTool,
  readCall,
  requireBackends,
} from './gates.js';
import { judgePlaces } from './judge-places.js';
import { noteUnseenWrites } from './note-unseen-writes.js';
import { parseArguments } from './parse-arguments.js';
import { recordStart } from './record-start.js';
import { requireSandbox } from './require-sandbox.js';
import { resolveSettings } from './resolve-settings.js';
import type { Step } from './step.js';

/**
 * The steps between a call and its tool. This list is the only order of the gates. The first step
 * that answers ends the way. If none answers, the call waits for its place and runs.
 */
export const STEPS: readonly Step[] = [
  readCall,
  answerByHost,
  findTool,
  applyFilters,
  checkAvailability,
  requireBackends,
  copyArguments,
  requireSandbox,
  parseArguments,
  resolveSettings,
  askBeforeCall,
  answerDryRun,
  judgePlaces,
  askApproval,
  noteUnseenWrites,
  exchangeUse,
  recordStart,
];
