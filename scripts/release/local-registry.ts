import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeOf, runNpm } from './nodes.js';

/** Verdaccio wants a newer Node than the packages do. */
const NODE = 24;

const PACKAGE = {
  name: 'registry',
  private: true,
  dependencies: { verdaccio: '6.10.4' },
  // One of its own dependencies names a tag, which some registries don't keep.
  overrides: { 'node-fetch': '^2.7.0' },
};

const SERVER = `
const { join } = require('node:path');
const { runServer } = require('verdaccio');
runServer({
  storage: join(__dirname, 'storage'),
  self_path: __dirname,
  auth: { htpasswd: { file: join(__dirname, 'htpasswd') } },
  // No other registry is asked: what is installed of the scope was published here.
  uplinks: {},
  packages: { '@ethosagent/*': { access: '$all', publish: '$all' } },
  max_body_size: '100mb',
  web: { enable: false },
  log: { type: 'stdout', format: 'pretty', level: 'error' },
}).then((server) => {
  const listening = server.listen(0, '127.0.0.1', () => {
    process.stdout.write('port ' + listening.address().port + '\\n');
  });
  // It ends with whoever started it.
  process.stdin.resume().on('end', () => process.exit());
});
`;

export interface LocalRegistry {
  url: string;
  /** A file with the settings that npm needs to publish there. */
  userconfig: string;
  close(): Promise<void>;
}

/** Installs a registry in a folder of its own, and starts it at a free port of the loopback. */
export async function startLocalRegistry(folder: string): Promise<LocalRegistry> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(PACKAGE));
  writeFileSync(join(folder, 'server.cjs'), SERVER);
  const node = await nodeOf(NODE);
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  await runNpm(node, install, { cwd: folder });

  const child = spawn(node, ['server.cjs'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const port = await portOf(child.stdout);
  const userconfig = join(folder, 'npmrc');
  // npm wants a token before it publishes; this registry takes any.
  writeFileSync(userconfig, `//127.0.0.1:${port}/:_authToken=dry-run\n`);
  return {
    url: `http://127.0.0.1:${port}/`,
    userconfig,
    async close() {
      child.stdin.end();
      await closed;
    },
  };
}

async function portOf(output: NodeJS.ReadableStream): Promise<number> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: output })) {
    const [, port] = /^port (\d+)$/.exec(line) ?? [];
    if (port !== undefined) {
      output.resume();
      return Number(port);
    }
    lines.push(line);
  }
  throw new Error(`The registry did not start:\n${lines.join('\n')}`);
}
