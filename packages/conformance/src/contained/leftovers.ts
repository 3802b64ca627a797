import type { Promised } from '../promised.js';
import { markedProcesses, openFilesBelow } from './processes.js';
import { settles } from './settles.js';
import type { World } from './world.js';

/** Yields what calls left, changed or touched in a world. Calls get a second to end first. */
export async function* leftovers(
  world: World,
  options: { hasProcesses: boolean },
): AsyncGenerator<[promised: Promised, what: string]> {
  const { files, server, canary } = world;
  const late = 'a second after its call had ended';
  if (!(await settles(() => server.open + canary.open === 0))) {
    yield ['network', `held a connection open ${late}`];
  }
  if (!(await settles(() => markedProcesses(world.pass).length === 0))) {
    yield ['processes', `left a process alive ${late}`];
  }
  if (!(await settles(() => openFilesBelow(files.base).length === 0))) {
    yield ['reach', `left a file open ${late}`];
  }
  for (const { url } of canary.received) {
    yield ['network', `connected to ${withoutQuery(url)}, which is outside the policy`];
  }
  if (canary.connections > canary.received.length) {
    yield ['network', `connected to ${canary.origin}, which is outside the policy`];
  }
  // A binary has its own access to the network and to files.
  if (!options.hasProcesses) {
    for (const { url } of server.received.filter(({ isPassed }) => !isPassed)) {
      yield ['network', `sent a request to ${withoutQuery(url)} around its context`];
    }
    for (const what of files.outsideReads()) yield ['reach', what];
  }
  for (const what of files.outsideChanges()) yield ['reach', what];
  for (const what of files.strangersInReach()) yield ['reach', what];
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '').slice(0, 200);
}
