export { createCodeTools } from './code-tools.js';
export { lintTool } from './lint.js';
export { readFileReducer } from './read-file-reducer.js';
export type { Problem, Severity, TestCase, TestStatus } from './report.js';
export { runCodeTool } from './run-code.js';
export { runTestsTool } from './run-tests.js';
export { typecheckTool } from './typecheck.js';
