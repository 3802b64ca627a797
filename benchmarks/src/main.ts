import { availableParallelism } from 'node:os';

// One file an axis. `pnpm bench dispatch` runs one of them.
const axes: Record<string, () => Promise<{ run: () => Promise<void> }>> = {
  dispatch: () => import('./dispatch.js'),
  definitions: () => import('./definitions.js'),
  'key-value': () => import('./key-value.js'),
  session: () => import('./session.js'),
  sessions: () => import('./sessions.js'),
  'contained-read': () => import('./contained-read.js'),
  'loopback-fetch': () => import('./loopback-fetch.js'),
  processes: () => import('./processes.js'),
  telemetry: () => import('./telemetry.js'),
  'command-line': () => import('./command-line.js'),
  agent: () => import('./agent.js'),
  fleet: () => import('./fleet/main.js'),
};

const asked = process.argv.slice(2).filter((argument) => argument !== '--');
const unknown = asked.filter((name) => !Object.hasOwn(axes, name));
if (unknown.length > 0) {
  console.error(
    `No such benchmark: ${unknown.join(', ')}. There are: ${Object.keys(axes).join(', ')}`,
  );
  process.exit(1);
}
console.log(
  `Node ${process.version}, ${availableParallelism()} cores; medians, contenders in turns.`,
);
for (const name of asked.length > 0 ? asked : Object.keys(axes))
  await (await axes[name]?.())?.run();
console.log('\nNot run here: peers of whole agents beside those that the axis `agent` names.');
