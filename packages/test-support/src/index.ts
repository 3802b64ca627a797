export { bundleScript, compileProgram } from './bundle-script.js';
export { readCorpus } from './corpus.js';
export { withEnoughTime } from './enough-time.js';
export type { TestFolder } from './test-folder.js';
export { createTestFolder } from './test-folder.js';
export {
  countTries,
  inCheck,
  isLongRun,
  runTimeoutMs,
  seedOfRun,
  tries,
  unlessLong,
} from './tries.js';
