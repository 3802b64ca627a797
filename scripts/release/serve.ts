import { once } from 'node:events';
import { timedStep, withLocalRelease } from './local-release.js';

// `pnpm release:registry`: the packages of this checkout in a registry at the loopback, until it is stopped.

const log = (line: string) => process.stdout.write(`${line}\n`);
const stopped = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));

await withLocalRelease(timedStep(log), async ({ version, registry }) => {
  log(`\nThe packages of version ${version} are at ${registry} until this is stopped.`);
  log('In the folder of your program, before `npm install`:\n');
  log(`  echo '@ethosagent:registry=${registry}' > .npmrc`);
  await stopped;
});
