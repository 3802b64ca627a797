export { readCorpus } from './corpus.js';
export { countTries, isLongRun, runTimeoutMs, seedOfRun, tries } from './tries.js';
