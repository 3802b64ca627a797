import type { AnyTool } from '@ethosagent/types';
import { lintTool } from './lint.js';
import { runCodeTool } from './run-code.js';
import { runTestsTool } from './run-tests.js';
import { typecheckTool } from './typecheck.js';

/**
 * Creates `lint`, `typecheck`, `run_tests` and `run_code`. All set `outputIsUntrusted` and
 * `supportsDryRun`.
 *
 * @returns the four tools, ready to register
 */
export function createCodeTools(): AnyTool[] {
  return [lintTool, typecheckTool, runTestsTool, runCodeTool];
}
