import type { AnyTool } from '@ethosagent/types';
import { lintTool } from './lint.js';
import { runCodeTool } from './run-code.js';
import { runTestsTool } from './run-tests.js';
import { typecheckTool } from './typecheck.js';

/**
 * `lint`, `typecheck`, `run_tests` and `run_code`.
 *
 * @returns the tools, to be registered
 */
export function createCodeTools(): AnyTool[] {
  return [lintTool, typecheckTool, runTestsTool, runCodeTool];
}
