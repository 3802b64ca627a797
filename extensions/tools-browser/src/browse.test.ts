import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveImageLimits, showImages } from '@ethosagent/core';
import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { readImage } from '@ethosagent/policy';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BrowserWorld, createBrowserWorld, refIn } from './fixtures/browser-world.js';
import { describeBrowser } from './fixtures/chromium.js';
import { type PageServer, servePages } from './fixtures/servers.js';

const PAGES: Parameters<typeof servePages>[0] = {
  '/': `<title>Shop</title><h1>Welcome</h1><a href="/next">next page</a>
    <label>Name <input id="n"></label><label>Code <input type="password" id="p" value="hunter2hunter2"></label>
    <select aria-label="Size"><option>small<option>large</select>
    <button onclick="document.title='T'; document.getElementById('out').textContent='clicked '+document.getElementById('n').value">Go</button>
    <p id="out">-</p><iframe srcdoc="<button onclick=&quot;this.textContent='pressed'&quot;>inner</button>"></iframe>`,
  '/next': '<title>Next</title><h1>Second page</h1><button>other</button>',
  '/tab': '<a href="/next" target="_blank">in a tab</a>',
  '/dialogs': `<button onclick="alert('Hello you'); document.body.append(String(confirm('sure?')))">ask</button>`,
  '/late': `<script>setTimeout(() => document.body.append('here it is'), 400)</script>`,
  '/console': `<script>console.log('plain'); console.error('bad thing'); throw new Error('boom')</script>`,
  '/long': `<ul>${Array.from({ length: 3_000 }, (_, n) => `<li>item ${n}</li>`).join('')}</ul>`,
  '/upload': `<input type="file" aria-label="file" onchange="this.files[0].text().then(t => document.body.append(this.files[0].name + '=' + t))">
    <button onclick="const i=document.createElement('input');i.type='file';i.onchange=()=>document.body.append('picked '+i.files[0].name);i.click()">pick</button>`,
  '/download': `<a href="/file">get it</a><a href="/endless">endless</a><a download="..%2f..%2fevil.sh" href="data:text/plain,hi">data</a>`,
  '/file': (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="../../re:port.txt"',
    });
    response.end('the report');
  },
  '/endless': (_request, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename="big.bin"' });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(100_000)));
    };
    response.on('drain', more);
    more();
  },
};

describeBrowser('the browser tools on an honest site', () => {
  let world: BrowserWorld;
  let site: PageServer;
  const closers: Array<() => Promise<void>> = [];
  const go = async (path: string) =>
    textOf(await world.run('browser_navigate', { url: `${site.origin}${path}` }));

  beforeAll(async () => {
    site = await servePages(PAGES, (close) => closers.push(close));
    world = createBrowserWorld({
      allow: [`127.0.0.1:${site.port}`],
      // A busy machine draws a page slowly.
      settings: {
        max_download_bytes: 1_000_000,
        action_timeout_ms: 60_000,
        navigation_timeout_ms: 120_000,
      },
    });
  });
  afterAll(async () => {
    await world.close();
    for (const close of closers) await close();
  });

  it('browser_navigate shows the page with refs, and hides what is in a password field', async () => {
    const page = await go('/');
    expect(page).toContain('Title: "Shop"');
    expect(page).toContain('- heading "Welcome"');
    expect(page).toContain('- button "inner"');
    expect(page).not.toContain('hunter2');
    expect(page).toContain(': (hidden)');
  });

  it('browser_type, browser_select and browser_click act on the elements of a snapshot', async () => {
    const page = await go('/');
    const typed = textOf(
      await world.run('browser_type', { ref: refIn(page, 'textbox "Name"'), text: 'Ada' }),
    );
    expect(typed).toContain('Typed 3 characters into textbox "Name".');
    const chosen = await world.run('browser_select', {
      ref: refIn(page, 'combobox "Size"'),
      values: ['large'],
    });
    expect(textOf(chosen)).toMatch(/option "large".*selected/);
    const clicked = await world.run('browser_click', { ref: refIn(page, 'button "Go"') });
    expect(textOf(clicked)).toContain('"clicked Ada"');
    const inner = await world.run('browser_click', { ref: refIn(page, 'button "inner"') });
    expect(textOf(inner)).toContain('button "pressed"');
  });

  it('browser_type does not repeat a password', async () => {
    const page = await go('/');
    const ref = refIn(page, 'textbox "Code"');
    const result = await world.run('browser_type', { ref, text: 'correct-horse' });
    expect(JSON.stringify(result)).not.toContain('correct-horse');
  });

  it('browser_click follows a link, browser_back returns, and refs of the page before are refused', async () => {
    const page = await go('/');
    const second = textOf(
      await world.run('browser_click', { ref: refIn(page, 'link "next page"') }),
    );
    expect(second).toContain('Second page');
    const stale = await world.run('browser_click', { ref: refIn(page, 'button "Go"') });
    expect(errorOf(stale)).toContain('Take a new browser_snapshot');
    expect(textOf(await world.run('browser_back'))).toContain('Welcome');
  });

  it('an element that is gone is said to be gone', async () => {
    const page = await go('/');
    const ref = refIn(page, 'link "next page"');
    await world.run('browser_press', { key: 'Tab' });
    const gone = await go('/console');
    expect(gone).not.toContain('next page');
    expect(errorOf(await world.run('browser_click', { ref }))).toContain('no element');
  });

  it.runIf(isLongRun())('browser_press gives a key to an element', async () => {
    const page = await go('/');
    const ref = refIn(page, 'textbox "Name"');
    expect(textOf(await world.run('browser_press', { key: 'x', ref }))).toContain(': "x"');
  });

  it.runIf(isLongRun())(
    'a tab that a click opens is shown, and browser_back leaves it',
    async () => {
      const page = await go('/tab');
      const tab = textOf(await world.run('browser_click', { ref: refIn(page, 'link "in a tab"') }));
      expect(tab).toContain('A new tab was opened');
      expect(tab).toContain('Second page');
      expect(textOf(await world.run('browser_back'))).toContain('in a tab');
    },
  );

  it('an alert is closed and told, and a question waits for browser_dialog', async () => {
    const page = await go('/dialogs');
    const clicked = textOf(await world.run('browser_click', { ref: refIn(page, 'button "ask"') }));
    expect(clicked).toContain('The page showed an alert: "Hello you"');
    const ref = /dialog ([a-z]{2}\d+), a confirm/.exec(clicked)?.[1];
    const other = await world.run('browser_snapshot');
    expect(errorOf(other)).toContain(`dialog ${ref}`);
    const wrong = await world.run('browser_dialog', { ref: 'zz99999', accept: true });
    expect(errorOf(wrong)).toContain(`dialog ${ref}`);
    const answered = textOf(await world.run('browser_dialog', { ref, accept: true }));
    expect(answered).toContain('true');
  });

  it.runIf(isLongRun())(
    'browser_wait waits for a text, and says when it does not come',
    async () => {
      await go('/late');
      expect(textOf(await world.run('browser_wait', { text: 'here it is' }))).toContain(
        'is on the page',
      );
      expect(textOf(await world.run('browser_wait', { seconds: 0.1 }))).toBe('Waited 0.1 s.');
      const never = await world.run('browser_wait', { text: 'never', seconds: 0.3 });
      expect(errorOf(never)).toContain('"never" is not on the page');
    },
  );

  it.runIf(isLongRun())('browser_console shows lines by their level', async () => {
    await go('/console');
    const all = textOf(await world.run('browser_console'));
    expect(all).toContain('info: plain');
    expect(all).toContain('error: uncaught: boom');
    expect(
      textOf(await world.run('browser_console', { level: 'error', clear: true })),
    ).not.toContain('plain');
    expect(textOf(await world.run('browser_console'))).toBe('The console is empty.');
  });

  it.runIf(isLongRun())('a long page is shown in parts', async () => {
    const first = await go('/long');
    expect(first.length).toBeLessThan(20_500);
    const from_line = Number(/from_line (\d+)/.exec(first)?.[1]);
    const rest = textOf(await world.run('browser_snapshot', { from_line }));
    expect(rest).toContain(`"item ${from_line - 2}"`);
  });

  it.runIf(isLongRun())('browser_scroll moves what is in view', async () => {
    const page = await go('/long');
    expect(textOf(await world.run('browser_scroll', { direction: 'down' }))).toContain(
      'Scrolled down',
    );
    const ref = refIn(page, 'item 150');
    expect(textOf(await world.run('browser_scroll', { ref }))).toContain('is in view');
  });

  it.each(
    inCheck<[{ full_page?: true }]>(
      [[{}], [{ full_page: true }]],
      ([args]) => !('full_page' in args),
    ),
  )('browser_screenshot %j gives a picture', async (args) => {
    await go('/');
    const result = await world.run('browser_screenshot', args);
    const image = result.ok && Object(result.structured?.images)[0];
    // The image as a model gets it.
    const shown = await showImages(result, { limits: resolveImageLimits(true) });
    expect(shown).toEqual({ images: [{ mediaType: 'image/png', data: image.data }], note: '' });
    expect(readImage(Buffer.from(image.data, 'base64'))).toMatchObject({
      ok: true,
      mediaType: 'image/png',
      width: 1_280,
      height: 800,
    });
    const small = await showImages(result, {
      limits: resolveImageLimits({ maxSidePixels: 1_000 }),
    });
    expect(small.images).toEqual([]);
    expect(small.note).toMatch(
      /1280 × 800 pixels\) is left out: .* 1000 pixels a side.*@ethosagent\/image-scaler/,
    );
  });

  it('browser_upload gives a file inside the reach, and no other', async () => {
    writeFileSync(join(world.dir, 'a.txt'), 'content of a');
    const page = await go('/upload');
    const ref = refIn(page, 'button "file"');
    const given = textOf(await world.run('browser_upload', { ref, paths: ['a.txt'] }));
    expect(given).toContain('a.txt=content of a');
    const outside = await world.run('browser_upload', { ref, paths: ['/etc/hostname'] });
    expect(errorOf(outside)).toContain('PATH_NOT_REACHABLE');
    const picked = await world.run('browser_upload', {
      ref: refIn(page, 'button "pick"'),
      paths: ['a.txt'],
    });
    expect(textOf(picked)).toContain('picked a.txt');
  });

  it('browser_download saves a file under a clean name, never over another', async () => {
    const page = await go('/download');
    const ref = refIn(page, 'link "get it"');
    expect(textOf(await world.run('browser_download', { ref }))).toContain('downloads/');
    const again = textOf(await world.run('browser_download', { ref }));
    expect(again).toContain('(2).txt');
    const saved = again.slice('Saved '.length).replace(/ \(\d+ bytes\).$/, '');
    expect(saved.startsWith(join(world.dir, 'downloads/'))).toBe(true);
    expect(readFileSync(saved, 'utf8')).toBe('the report');
    const outside = await world.run('browser_download', { ref, path: '../out.txt' });
    expect(errorOf(outside)).toContain('PATH_NOT_REACHABLE');
  });

  it('an endless download is ended, and nothing is saved', async () => {
    const page = await go('/download');
    const result = await world.run('browser_download', {
      ref: refIn(page, 'link "endless"'),
      path: 'big',
    });
    expect(errorOf(result)).toContain('more than 1000000 bytes');
    expect(existsSync(join(world.dir, 'big'))).toBe(false);
  });

  it.runIf(isLongRun())('a download that nobody asked for is not taken', async () => {
    const page = await go('/download');
    const clicked = await world.run('browser_click', { ref: refIn(page, 'link "get it"') });
    expect(JSON.stringify(clicked)).toContain('it was not taken');
  });

  it('browser_close ends the browser, and says so to later calls', async () => {
    await go('/');
    expect(textOf(await world.run('browser_close'))).toBe('The browser is closed.');
    expect(errorOf(await world.run('browser_snapshot'))).toBe(
      'No page is open. Open one with browser_navigate.',
    );
  });
});
