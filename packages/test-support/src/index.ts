export { ALIKE_TEXTS } from './alike-texts.js';
export { anyAuthority, anyJson, anyText, anyUrl } from './any-text.js';
export { LETTER, readLetter } from './attached-letter.js';
export { hasBubblewrap } from './bubblewrap.js';
export { bundlePage } from './bundle-page.js';
export {
  bundleProgram,
  bundleScript,
  bundleTogether,
  compileProgram,
  moduleGraph,
} from './bundle-script.js';
export { canTrace } from './can-trace.js';
export { collectGarbage } from './collect-garbage.js';
export { readCorpus } from './corpus.js';
export { withEnoughTime } from './enough-time.js';
export { errorsWithoutSession } from './errors-without-session.js';
export { createGate } from './gate.js';
export { growthOf, steepParts } from './growth/growth-of.js';
export type { Measured } from './growth/measure-growth.js';
export type { Outcome } from './in-turn/outcome.js';
export { inPlace } from './in-turn/place.js';
export { runInTurn, runNode } from './in-turn/run-in-turn.js';
export {
  isNode22,
  type NodeRunReport,
  runOnNode22,
  runTestsOnNode22,
} from './node-22.js';
export { canOpenKeychain, openKeychain, type TestKeychain } from './open-keychain.js';
export { newPostgresDatabase, serveDatabases } from './postgres/shared-postgres.js';
export { startPostgres, type TestPostgres } from './postgres/start-postgres.js';
export { startRedis, type TestRedis } from './redis/start-redis.js';
export { pngChunk, pngOf, SAMPLE_IMAGES, samplePng } from './sample-images.js';
export type { TestFolder } from './test-folder.js';
export { createTestFolder } from './test-folder.js';
export { createToolsetHome } from './toolset-home.js';
export {
  countTries,
  inCheck,
  isLongRun,
  runTimeoutMs,
  seedOfRun,
  tries,
  unlessLong,
} from './tries.js';
