// Installs the programs that the tests and the stories use beside Node: those that are
// missing where it may, and says what is left out where it may not.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** One of these names is enough. */
const PROGRAMS = [
  { names: ['git'], debian: 'git', without: 'tests that run git fail' },
  { names: ['setsid'], debian: 'util-linux', without: 'tests of process trees fail' },
  { names: ['bwrap'], debian: 'bubblewrap', without: 'tests of the sandbox fail' },
  {
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable'],
    debian: 'chromium-headless-shell',
    without: 'the browser tests and the browser story are left out',
  },
  { names: ['redis-server'], debian: 'redis-server', without: 'tests of storage-redis fail' },
  { names: ['openssl'], debian: 'openssl', without: 'tests of TLS to PostgreSQL fail' },
  { names: ['postgres'], debian: 'postgresql', without: 'tests of storage-postgres fail' },
];

const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
// Debian keeps the server of each version there, on no PATH.
const servers = '/usr/lib/postgresql';
const folders = () => [
  ...path,
  ...(existsSync(servers) ? readdirSync(servers) : []).map((each) => join(servers, each, 'bin')),
];

function isThere(name) {
  return folders().some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const missing = () => PROGRAMS.filter(({ names }) => !names.some(isThere));

const wanted = missing().map(({ debian }) => debian);
if (wanted.length > 0 && process.getuid?.() === 0 && isThere('apt-get')) {
  console.log(`Installing ${wanted.join(', ')} …`);
  const run = (...args) =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  run('update', '-qq');
  run('install', '-y', '-qq', '--no-install-recommends', ...wanted);
}
for (const { names, debian, without } of missing()) {
  console.log(`Not available: ${names[0]}; ${without}. On Debian: sudo apt-get install ${debian}`);
}
