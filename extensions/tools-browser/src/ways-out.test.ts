import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { type BrowserWorld, createBrowserWorld, refIn } from './fixtures/browser-world.js';
import { describeBrowser } from './fixtures/chromium.js';
import { servePages } from './fixtures/servers.js';
import { REAL_WAYS, waysOut } from './fixtures/ways-out.js';

const LEAVING = [
  'leave-by-meta',
  'leave-by-download',
  'leave-by-script',
  'leave-by-form',
  'leave-by-beacon',
  'redirect-page',
];

/** How long the test waits for a connection that must not come. */
const WAIT_S = tries({ check: 1, long: 4 });

async function udpOn(port: number): Promise<string[]> {
  const seen: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message) => seen.push(message.toString('latin1').slice(0, 40)));
  await new Promise<void>((resolve) => socket.bind(port, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => socket.close(resolve)));
  return seen;
}

async function tryAllWays(world: BrowserWorld, site: string): Promise<void> {
  expect(textOf(await world.run('browser_navigate', { url: `${site}/` }))).toContain('ways out');
  await world.run('browser_wait', { seconds: WAIT_S });
  for (const path of LEAVING) {
    await world.run('browser_navigate', { url: `${site}/${path}` });
    await world.run('browser_wait', { seconds: WAIT_S / 8 });
  }
}

describeBrowser('a page that tries every way to a place that may not be reached', () => {
  // Proves that these attacks work without the guard.
  it.runIf(isLongRun())('gets there by each of them when nothing is in the way', async () => {
    const place = await servePages({});
    const site = await servePages(waysOut(place.port));
    const world = createBrowserWorld({
      allow: [`127.0.0.1:${site.port}`, `127.0.0.1:${place.port}`],
    });
    onTestFinished(() => world.close());
    await tryAllWays(world, site.origin);
    const ways = place.requests.map((request) => request.replace(/^\w+ \//, ''));
    expect(ways).toEqual(expect.arrayContaining([...REAL_WAYS]));
    expect(ways).toEqual(
      expect.arrayContaining([
        'meta-refresh',
        'location',
        'form',
        'beacon-at-end',
        'redirect-page',
      ]),
    );
  });

  it('does not get there by any', async () => {
    const place = await servePages({});
    const datagrams = await udpOn(place.port);
    const site = await servePages(waysOut(place.port));
    const world = createBrowserWorld({ allow: [`127.0.0.1:${site.port}`] });
    onTestFinished(() => world.close());
    await tryAllWays(world, site.origin);
    expect(place.requests).toEqual([]);
    expect(place.connections).toBe(0);
    expect(datagrams).toEqual([]);
    const refused = world.audit.events.filter(({ decision }) => decision === 'denied');
    expect(refused.length).toBeGreaterThan(10);
    const away = await world.run('browser_navigate', { url: `${place.origin}/` });
    expect(errorOf(away)).toContain('HOST_NOT_ALLOWED');
  });
});

describeBrowser('names and addresses', () => {
  let asked: string[] = [];
  let answers: string[] = [];
  const world = createBrowserWorld({
    allow: ['*'],
    backends: {
      lookup: async (host: string) => {
        asked.push(host);
        return [{ address: answers.shift() ?? '127.0.0.1' }];
      },
    },
  });
  afterAll(() => world.close());

  const rebound = [
    { first: '8.8.8.8', later: '127.0.0.1' },
    { first: '127.0.0.1', later: '127.0.0.1' },
    { first: '1.1.1.1', later: '169.254.169.254' },
  ];
  it.runIf(isLongRun()).each(rebound)(
    'a name that is $first when it is checked, and $later when it is connected to, is refused',
    async ({ first, later }) => {
      const place = await servePages({});
      asked = [];
      const host = `from-${first}-to-${later}.test`;
      answers = [first, later, later, first, later, later];
      for (const path of ['a', 'b', 'c']) {
        const result = await world.run('browser_navigate', {
          url: `http://${host}:${place.port}/${path}`,
        });
        // The connection goes to the checked address, where nobody answers.
        expect(errorOf(result)).toMatch(/HOST_NOT_ALLOWED|NETWORK_FAILED/);
      }
      expect(asked).toContain(host);
      expect(place.connections).toBe(0);
    },
  );

  it.runIf(isLongRun())(
    'Chromium asks for nothing on its own, and looks up nothing itself',
    async () => {
      asked = [];
      answers = [];
      await world.run('browser_navigate', { url: 'about:blank' });
      await world.run('browser_wait', { seconds: tries({ check: 2, long: 8 }) });
      expect(asked).toEqual([]);
    },
  );

  it.each([
    'file:///etc/hostname',
    'data:text/html,hi',
    'javascript:alert(1)',
    'chrome://version',
    'view-source:http://a.test',
    'blob:http://a.test/1',
    'about:config',
    'ftp://a.test',
    'devtools://devtools',
    'chrome-extension://abc/x',
    '//a.test',
    'a.test',
    '',
  ])('browser_navigate refuses %j', async (url) => {
    const result = await world.run('browser_navigate', { url });
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
  });
});

describeBrowser('pages that lead elsewhere than to the web', () => {
  const world = createBrowserWorld({ allow: ['127.0.0.1'] });
  afterAll(() => world.close());

  it('show nothing of this machine', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tools-browser-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const secret = `file://${join(dir, 'secret.html')}`;
    writeFileSync(join(dir, 'secret.html'), 'the secret of this machine');
    const targets = [secret, `view-source:${secret}`, 'chrome://version'];
    const site = await servePages({
      '/frames': targets.map((href) => `<iframe src="${href}"></iframe>`).join(''),
      '/': `${targets.map((href, n) => `<a href="${href}">way ${n}</a><a href="${href}" target=_blank>tab ${n}</a>`).join('')}
        <script>for (const t of ${JSON.stringify(targets)}) { try { fetch(t).then(r => r.text()).then(t => document.body.append(t)) } catch {} }</script>`,
    });
    const frames = await world.run('browser_navigate', { url: `${site.origin}/frames` });
    expect(textOf(frames)).not.toContain('the secret');
    const labels = targets.flatMap((_, n) => [`way ${n}`, `tab ${n}`]);
    for (const label of inCheck(labels, (one) => one.endsWith('0'))) {
      const page = textOf(await world.run('browser_navigate', { url: `${site.origin}/` }));
      const ref = refIn(page, `link "${label}"`);
      await world.run('browser_click', { ref });
      const after = JSON.stringify(await world.run('browser_snapshot'));
      expect(after).not.toContain('the secret');
      expect(after).toMatch(/http:\/\/127\.0\.0\.1|about:blank/);
    }
  });

  it('are given nothing that needs a permission', async () => {
    const site = await servePages({
      '/': `<p>x</p><script>
        const say = (name) => (value) => document.body.append(name + '=' + value + ';');
        const no = (name, work) => { try { Promise.resolve(work()).then(say(name + ':GIVEN'), (e) => say(name)('refused')) } catch { say(name)('refused') } };
        no('geo', () => new Promise((y, n) => navigator.geolocation.getCurrentPosition(y, n)));
        no('clip', () => navigator.clipboard.readText());
        no('cam', () => navigator.mediaDevices.getUserMedia({video: true, audio: true}));
        no('midi', () => navigator.requestMIDIAccess({sysex: true}));
        no('note', () => Notification.requestPermission().then((said) => { if (said !== 'granted') throw said; }));
        no('usb', () => navigator.usb.requestDevice({filters: []}));
        no('bt', () => navigator.bluetooth.requestDevice({acceptAllDevices: true}));
        no('fs', () => showOpenFilePicker());
      </script>`,
    });
    const asked = ['geo', 'clip', 'cam', 'midi', 'note', 'usb', 'bt', 'fs'];
    let page = textOf(await world.run('browser_navigate', { url: `${site.origin}/` }));
    while (!asked.every((name) => page.includes(`${name}=`) || page.includes(`${name}:`))) {
      page = textOf(await world.run('browser_snapshot'));
    }
    expect(page).not.toContain('GIVEN');
    for (const name of asked) expect(page).toContain(`${name}=refused`);
  });
});
