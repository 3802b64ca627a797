import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  bundleScript,
  countTries,
  createTestFolder,
  isLongRun,
  type TestFolder,
} from '@ethosagent/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

const folders = (process.env.PATH ?? '').split(delimiter);
// Starting a Chromium takes longer than everything else in this test.
const withChromium =
  isLongRun() &&
  folders.some((folder) => {
    try {
      return readdirSync(folder).some((name) => name.startsWith('chromium'));
    } catch {
      return false;
    }
  });

// An MCP server without a library, and a helper process that outlives it.
const NOTER = `
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
spawn('setsid', ['sleep', '3603'], { stdio: 'ignore', detached: true }).unref();
// Nothing leads back from this one: no environment, no descriptor, no session, no parent.
const nothing = ['ignore', 'ignore', 'ignore', 'ignore'];
spawn('setsid', ['-f', 'env', '-i', 'sleep', process.argv[1]], { stdio: nothing });
const send = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'noter', version: '1' };
    send(id, { protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') {
    send(id, { tools: [{ name: 'note', inputSchema: { type: 'object' } }] });
  } else if (id !== undefined) send(id, { content: [{ type: 'text', text: 'noted' }] });
});
// It goes on when nobody talks to it any more.
setInterval(() => {}, 60_000);
`;

const ENDINGS: readonly [name: string, end: (host: ChildProcess) => void][] = [
  ['SIGKILL', (host) => host.kill('SIGKILL')],
  ['process.exit', (host) => host.kill('SIGUSR2')],
  ['SIGTERM', (host) => host.kill('SIGTERM')],
  // A terminal sends this signal to the whole group.
  ['SIGINT', (host) => process.kill(-(host.pid ?? 0), 'SIGINT')],
  ['what nobody catches', (host) => host.kill('SIGPIPE')],
];

let script: string;
let page: Server | undefined;
let url: string;
let folder: TestFolder;
let host: ChildProcess | undefined;
beforeAll(async () => {
  if (!isLongRun()) return;
  script = await bundleScript(new URL('./fixtures/ending-runtime.ts', import.meta.url));
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<title>Page</title>');
  }).listen(0, '127.0.0.1');
  page = server;
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
});
afterAll(() => page?.close());
beforeEach(() => {
  folder = createTestFolder('host-end');
});
afterEach(() => {
  host?.kill('SIGKILL');
  folder.remove();
});

interface Seen {
  pid: number;
  parent: number;
  /** When it began: another process may get its id later. */
  start: string;
  command: string;
  environment: string;
}

function seen(pid: number): Seen | undefined {
  try {
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1');
    const stat = read('stat');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const command = read('cmdline').replaceAll('\0', ' ');
    const [parent, start = ''] = [Number(fields[1]), fields[19]];
    return { pid, parent, start, command, environment: read('environ') };
  } catch {
    return undefined;
  }
}

/** The processes with one of these sleeping times as their only argument. */
function startedWith(seconds: readonly string[]): Seen[] {
  const all = readdirSync('/proc').flatMap((name) => seen(Number(name)) ?? []);
  return all.filter(({ command }) => seconds.includes(/^sleep (\d+) $/.exec(command)?.[1] ?? ''));
}

/**
 * The processes with a mark in their environment, and their descendants, since Chromium overwrites
 * its own environment.
 */
function startedBy(mark: string): Seen[] {
  const all = readdirSync('/proc').flatMap((name) => seen(Number(name)) ?? []);
  const found = new Set(all.filter(({ environment }) => environment.includes(mark)));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    const pids = new Set([...found].map(({ pid }) => pid));
    for (const each of all) if (pids.has(each.parent)) found.add(each);
  }
  return [...found].filter(({ command }) => !command.startsWith('ethos-supervisor'));
}

const isThere = ({ pid, start }: Seen) => seen(pid)?.start === start;

const rows = ENDINGS.flatMap(([ending, end]) =>
  [false, true].map((sandboxed) => ({ ending, end, sandboxed })),
);

// Only in a long run: a check tries the same ways to start a process in core, and this bundle and a
// Chromium take long.
it.runIf(isLongRun()).for(rows)(
  'what tools, servers and the browser run is gone after $ending of the host, sandboxed: $sandboxed',
  async ({ end, sandboxed }, context) => {
    const mark = randomUUID();
    mkdirSync(join(folder.dir, 'work'));
    folder.put(
      'home/personalities/busy/config.yaml',
      `name: Busy
fs_reach:
  read: ["\${CWD}"]
  write: ["\${CWD}"]
safety:
  process:
    sandbox: ${sandboxed ? 'required' : 'false'}
  network:
    allow: ["127.0.0.1"]
`,
    );
    // The processes are identified by their sleeping time.
    const seconds = [randomInt(1e8, 1e9), randomInt(1e8, 1e9)].map(String);
    const [ofServer = '', ofTerminal = ''] = seconds;
    const noter = { command: process.execPath, args: ['-e', NOTER, ofServer] };
    folder.put('home/mcp.json', JSON.stringify({ mcpServers: { noter } }));
    const program = [script, folder.dir, withChromium ? url : '', ofTerminal];
    const started = spawn(process.execPath, program, {
      detached: true,
      env: { ...process.env, ATTACK_MARK: mark },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    host = started;
    const ended = once(started, 'exit');
    await Promise.race([
      once(started.stdout, 'data'),
      ended.then(() => {
        throw new Error('the host could not begin');
      }),
    ]);
    const wanted = ['sleep 3600', 'sleep 3601', 'sleep 3602', 'sleep 3603'];
    wanted.push(...seconds.map((each) => `sleep ${each}`));
    if (withChromium) wanted.push('--type=renderer');
    const missing = () => {
      const there = [...startedBy(mark), ...startedWith(seconds)];
      const commands = there.map(({ command }) => command);
      return wanted.filter((each) => !commands.some((command) => command.includes(each)));
    };
    while (missing().length > 0) await delay(20);
    const all = [...startedBy(mark), ...startedWith(seconds)];
    end(started);
    await ended;
    const begin = performance.now();
    const left = () =>
      [...all.filter(isThere), ...startedBy(mark), ...startedWith(seconds)].map(
        ({ command }) => command,
      );
    while (left().length > 0) await delay(20);
    console.log(`gone after ${Math.round(performance.now() - begin)} ms`);
    expect(left()).toEqual([]);
    countTries(context, 'processes', all.length);
  },
);
