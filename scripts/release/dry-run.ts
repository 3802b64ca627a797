import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { tryFreshFolder } from './fresh-folder.js';
import { type LocalRelease, timedStep, withLocalRelease } from './local-release.js';
import { NODE_MAJORS } from './nodes.js';
import { readQuickstarts } from './quickstarts.js';

// The whole release against a registry at the loopback, and the use of what was published in an empty folder.

export interface DryRunResult extends LocalRelease {
  /** What the programs of the fresh folder said, by the major of Node. */
  fresh: Record<number, Awaited<ReturnType<typeof tryFreshFolder>>>;
}

export interface DryRunOptions {
  nodes?: readonly number[];
  log?: (line: string) => void;
}

/** @throws where any step fails, with what it wrote */
export async function dryRun({
  nodes = NODE_MAJORS,
  log = () => {},
}: DryRunOptions = {}): Promise<DryRunResult> {
  const step = timedStep(log);
  return withLocalRelease(step, async (release) => {
    const { world, packages, registry } = release;
    const fresh: DryRunResult['fresh'] = {};
    for (const major of nodes) {
      const folder = join(world, `node-${major}`);
      const options = { folder, major, packages, quickstarts: readQuickstarts(), registry };
      fresh[major] = await step(`Node ${major}`, () => tryFreshFolder(options));
    }
    return { ...release, fresh };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({ options: { node: { type: 'string', multiple: true } } });
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const {
    version: released,
    published,
    fresh,
  } = await dryRun({
    log,
    ...(values.node ? { nodes: values.node.map(Number) } : {}),
  });
  log(`${published.length} packages of version ${released}: ${JSON.stringify(fresh, null, 2)}`);
}
