import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildPage } from './fixtures/build-page.js';
import { callEvents, openInspectedHome } from './fixtures/inspected-home.js';
import {
  openInspector,
  type RunningInspector,
  startChromium,
  watchPage,
} from './fixtures/open-inspector.js';
import type { ReachMatrix } from './inspect-api.js';
import { reachHtml } from './reach-html.js';

/** Markup and scripts in every form that a page might run. */
const HOSTILE = [
  '<img src=x onerror="window.ran=1">',
  '<script>window.ran=2</script>',
  '"><svg onload="window.ran=3">',
  '</script><script>window.ran=4</script>',
  '<!--<script>',
  "javascript:window.ran=5//'",
  '<iframe srcdoc="<script>parent.ran=6</script>"></iframe>',
  '{{constructor.constructor("window.ran=7")()}}',
  '<b>bold</b>',
  '<a href="javascript:window.ran=8">x</a>',
  '</style><style>@import "https://evil.example/x.css"</style>',
].join('');

let browser: Browser;
let world: ReturnType<typeof openInspectedHome>;
let inspector: RunningInspector | undefined;
beforeAll(async () => {
  await buildPage();
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(() => {
  world = openInspectedHome({ 'notes/evil.txt': HOSTILE });
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await inspector?.stop();
  inspector = undefined;
  world.remove();
});

const open = async () => {
  inspector = await openInspector(world);
  const watched = await watchPage(browser, inspector.origin);
  await watched.page.goto(inspector.url);
  return watched;
};
const chooseFirst = async (page: Page, table: string) => {
  await page.getByRole('grid', { name: table }).getByRole('row').nth(1).click();
};

describe('hostile texts run nothing', () => {
  it.runIf(isLongRun())(
    'though the watch would see it: a page that takes them as markup runs them',
    async () => {
      const watched = await watchPage(browser, 'http://127.0.0.1:1');
      await watched.page.setContent(`<body>${HOSTILE}</body>`);
      await watched.page.waitForFunction('window.ran !== undefined');
      expect((await watched.wrongs()).join()).toContain('ran ');
      const { page, wrongs } = await open();
      await page.getByRole('heading', { name: 'Reach' }).waitFor();
      await page.evaluate(`(() => {
      const image = document.createElement('img');
      image.src = 'https://evil.example/x';
      document.body.append(image);
      try { document.body.innerHTML = '<b>x</b>'; } catch {}
    })()`);
      const seen = (await wrongs()).join('\n');
      expect(seen).toContain('violates img-src with https://evil.example');
      expect(seen).toContain('violates require-trusted-types-for');
      expect(seen).toContain('has <img');
    },
  );

  it('as names of tools, sessions and personalities, targets, reasons and arguments in a log', async () => {
    const hostile = {
      sessionId: HOSTILE,
      personalityId: HOSTILE,
      toolName: HOSTILE,
      toolCallId: HOSTILE,
      target: `https://api.example.com/${HOSTILE}`,
      reason: HOSTILE,
      args: { [HOSTILE]: HOSTILE },
      gate: HOSTILE,
      approval: { approved: true, reason: HOSTILE, by: HOSTILE },
    };
    world.writeLog(callEvents(3, hostile));
    const { page, wrongs } = await open();
    await page.getByRole('link', { name: 'Live calls' }).click();
    await page.getByText('3 calls').waitFor();
    await chooseFirst(page, 'Calls');
    await page.getByRole('heading', { name: 'Accesses' }).waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('6 events').first().waitFor();
    for (const row of [1, 2]) {
      await page.getByRole('grid', { name: 'Events' }).getByRole('row').nth(row).click();
      await page.getByText('event ').first().waitFor();
    }
    await page.getByLabel('Session').fill(HOSTILE);
    await page.getByText('6 events').first().waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('none changed').waitFor();
    expect(await wrongs()).toEqual([]);
  });

  it.runIf(isLongRun())(
    'as the output of a tool, a prompt, and the name of a session',
    async () => {
      const agent = await world.openRuntime();
      const session = agent.session(HOSTILE);
      await session.execute([
        { toolCallId: HOSTILE, name: 'read_file', args: { path: 'notes/evil.txt' } },
      ]);
      const ref = {
        id: HOSTILE,
        key: HOSTILE,
        scopeId: 'personality:coder',
        personalityId: 'coder',
      };
      await agent.sessions.append(ref, [
        { role: 'user', text: HOSTILE },
        {
          role: 'assistant',
          text: HOSTILE,
          data: {
            v: 1,
            kind: 'step',
            parts: [{ type: 'call', id: HOSTILE, name: HOSTILE, input: { [HOSTILE]: HOSTILE } }],
          },
        },
        { role: 'tool', toolName: HOSTILE, text: HOSTILE },
      ]);
      await agent.close();
      const { page, wrongs } = await open();
      await page.getByRole('link', { name: 'Sessions' }).click();
      await chooseFirst(page, 'Sessions');
      await page.getByRole('region', { name: 'Conversation' }).getByText('3 messages').waitFor();
      await page.getByRole('heading', { name: 'tool' }).first().waitFor();
      expect(await wrongs()).toEqual([]);
    },
  );

  it('as the arguments of a call that waits, its session and its sources', async () => {
    const agent = await world.openRuntime();
    const session = agent.session(HOSTILE);
    await session.addSource({ source: HOSTILE, tool: HOSTILE });
    await session.execute([
      {
        toolCallId: HOSTILE,
        name: 'write_file',
        args: { path: `notes/${HOSTILE.replaceAll('/', '_')}`, content: `${HOSTILE}\n${HOSTILE}` },
      },
    ]);
    try {
      const { page, wrongs } = await open();
      await page.getByRole('link', { name: /Approvals 1/ }).click();
      await page.getByText('Change the arguments').click();
      await page.getByText('What the call may touch').click();
      const edit = page.getByLabel('The arguments as JSON');
      await edit.fill((await edit.inputValue()).replace('window.ran=1', 'window.ran=9'));
      await page.locator('.diff-line.new').first().waitFor();
      await page.getByLabel('Reason, for the model').fill(HOSTILE);
      await page.getByRole('button', { name: 'No', exact: true }).click();
      await page.getByText('Nothing waits.').waitFor();
      expect(await wrongs()).toEqual([]);
    } finally {
      await agent.close();
    }
  });

  it.runIf(isLongRun())('as what a personality and a tool say of themselves', async () => {
    world.write(
      '.ethos/personalities/coder/config.yaml',
      `name: Coder\ndescription: ${JSON.stringify(HOSTILE)}\nfs_reach:\n  read: [${JSON.stringify(`\${CWD}/${HOSTILE}`)}]\n`,
    );
    world.write(
      '.ethos/ethos.config.mjs',
      `export default { personality: 'coder', tools: ['read_file', {
        name: 'evil', description: ${JSON.stringify(HOSTILE)}, schema: { type: 'object' }, capabilities: {
          secrets: ['providers/x'], storage: { scope: 'session', kind: 'kv' } },
        async execute() { return { ok: true, value: '' }; } }] };`,
    );
    const { page, wrongs } = await open();
    const cell = page.getByRole('button', { name: /^read_file, / }).first();
    await cell.click();
    await page.getByRole('button', { name: /^evil, providers/ }).click();
    const why = page.getByRole('region', { name: 'Why' });
    await why.getByText('window.ran=1').waitFor();
    expect(await wrongs()).toEqual([]);
  });

  it.runIf(isLongRun())(
    'and nothing hides: what has no width, turns the text or moves a cursor is shown',
    async () => {
      const hidden = 'a\u202Eb\u200Bc\u001B[2Jd\u0000e\u2028f';
      world.writeLog(callEvents(1, { toolName: hidden }));
      const { page } = await open();
      await page.getByRole('link', { name: 'Live calls' }).click();
      await page.getByText('1 call', { exact: true }).waitFor();
      const [text] = await page.getByRole('grid', { name: 'Calls' }).allInnerTexts();
      expect(text).toContain('a<U+202E>b<U+200B>c␛[2Jd␀e f');
    },
  );
});

describe('the page of reach --html', () => {
  const matrix: ReachMatrix = {
    personality: HOSTILE,
    tools: [{ name: HOSTILE, description: HOSTILE, offered: true, unconfined: true }],
    rows: [
      {
        kind: 'host',
        name: HOSTILE,
        cells: { 0: { may: 'yes', note: HOSTILE, declared: [HOSTILE], policy: [HOSTILE] } },
      },
    ],
  };

  it('is one file that loads nothing, and runs none of the names in it', async () => {
    const folder = join(world.cwd, 'out');
    mkdirSync(folder);
    const file = join(folder, 'reach.html');
    writeFileSync(file, await reachHtml(matrix));
    const { page, wrongs } = await watchPage(browser, 'null');
    await page.goto(pathToFileURL(file).href);
    await page.getByRole('button', { name: /Why\?/ }).click();
    await page.getByRole('region', { name: 'Why' }).getByText('The tool declares').waitFor();
    expect(await wrongs()).toEqual([]);
    expect(readFileSync(file, 'utf8').match(/<\/script>/g)).toHaveLength(2);
  });

  it.runIf(isLongRun())('is what the command writes', async () => {
    const { code, out } = await world.run(['reach', '--html']);
    expect(code).toBe(0);
    const file = join(world.cwd, 'reach.html');
    writeFileSync(file, out);
    const { page, wrongs } = await watchPage(browser, 'null');
    await page.goto(pathToFileURL(file).href);
    await page.getByRole('heading', { name: 'Reach of coder' }).waitFor();
    await page.getByLabel('Host, path, secret, program').fill('api.example.com');
    await page.getByText('3 tools, 1 row').waitFor();
    expect(await wrongs()).toEqual([]);
  });
});

describe('another site', () => {
  it.runIf(isLongRun())(
    'gets nothing of the page: no frame, no fetch, no window, no script',
    async () => {
      inspector = await openInspector(world);
      const { origin } = inspector;
      const evil = await openInspector(world);
      try {
        const { page } = await watchPage(browser, evil.origin, { bypassCSP: true });
        // Another origin on the same machine, like a server of another user.
        await page.goto(`${evil.origin}/`);
        const outcomes = await page.evaluate(`(async () => {
        const read = async (path, init) => {
          try { return await (await fetch('${origin}' + path, init)).text(); } catch { return 'refused'; }
        };
        const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
        const frame = document.createElement('iframe');
        frame.src = '${origin}/';
        const framed = await new Promise((resolve) => {
          frame.onload = () => {
            try { resolve(frame.contentDocument === null ? 'opaque' : frame.contentDocument.body.innerHTML); }
            catch { resolve('opaque'); }
          };
          document.body.append(frame);
        });
        const opaque = await fetch('${origin}/api/state', { mode: 'no-cors' }).then(
          (response) => response.text(), () => 'refused');
        return [await read('/'), await read('/api/state'), await read('/api/session', post), framed, opaque];
      })()`);
        expect(outcomes).toEqual(['refused', 'refused', 'refused', 'opaque', 'refused']);
      } finally {
        await evil.stop();
      }
    },
  );
});
