import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BrowserWorld, createBrowserWorld, refIn } from './fixtures/browser-world.js';
import { describeBrowser } from './fixtures/chromium.js';
import { type PageServer, servePages } from './fixtures/servers.js';

interface Case {
  what: string;
  /** What is on the page, and what the page then does with `it`. */
  html: string;
  turn: string;
  line: string;
  tool: string;
  args?: Record<string, unknown>;
}

const BUTTON = '<button id="it">Go</button>';
const CHANGED: Case[] = [
  {
    what: 'a button that is renamed',
    html: BUTTON,
    turn: 'it.textContent = "Delete everything"',
    line: 'button "Go"',
    tool: 'browser_click',
  },
  {
    what: 'a button whose label is for readers of screens',
    html: '<button id="it" aria-label="Go">x</button>',
    turn: 'it.ariaLabel = "Delete everything"',
    line: 'button "Go"',
    tool: 'browser_click',
  },
  {
    what: 'a link that leads elsewhere',
    html: '<a id="it" href="/a">Go</a>',
    turn: 'it.href = "/b"',
    line: 'link "Go"',
    tool: 'browser_click',
  },
  {
    what: 'a box that was set meanwhile',
    html: '<input id="it" type="checkbox" aria-label="Share">',
    turn: 'it.checked = true',
    line: 'checkbox "Share"',
    tool: 'browser_click',
  },
  {
    what: 'an element without a name',
    html: '<div id="it" style="cursor:pointer" onclick="0">Go</div>',
    turn: 'it.textContent = "Delete everything"',
    line: 'Go',
    tool: 'browser_click',
  },
  {
    what: 'an element that another has become',
    html: BUTTON,
    turn: 'it.outerHTML = "<button>Delete everything</button>"',
    line: 'button "Go"',
    tool: 'browser_click',
  },
  {
    what: 'a field for another thing',
    html: '<input id="it" aria-label="Search">',
    turn: 'it.ariaLabel = "Pay to"',
    line: 'textbox "Search"',
    tool: 'browser_type',
    args: { text: 'x' },
  },
  {
    what: 'a list with other choices',
    html: '<select id="it" aria-label="How"><option>one<option>two</select>',
    turn: 'it.innerHTML = "<option>two<option>three"',
    line: 'combobox "How"',
    tool: 'browser_select',
    args: { values: ['two'] },
  },
  {
    what: 'a button that gets a key',
    html: BUTTON,
    turn: 'it.textContent = "Delete everything"',
    line: 'button "Go"',
    tool: 'browser_press',
    args: { key: 'Enter' },
  },
];
describeBrowser('an element that is not what the snapshot showed', () => {
  let site: PageServer;
  let page = '';
  let world: BrowserWorld;
  let change = () => {};
  const done: string[] = [];
  const closers: Array<() => Promise<void>> = [];

  beforeAll(async () => {
    site = await servePages(
      {
        '/page': (_, response) => {
          response.setHeader('content-type', 'text/html').end(page);
        },
        '/wait': (_, response) => {
          change = () => response.end();
        },
        '/changed': (_, response) => {
          response.end();
          done.push('changed');
        },
        '/acted': (_, response) => {
          response.end();
          done.push('acted');
        },
      },
      (close) => closers.push(close),
    );
    world = createBrowserWorld({ allow: [`127.0.0.1:${site.port}`] });
  });
  afterAll(async () => {
    await world.close();
    await Promise.all(closers.map((close) => close()));
  });

  async function openPage({ html, turn }: Pick<Case, 'html' | 'turn'>): Promise<string> {
    done.length = 0;
    const tell = `for (const kind of ['click', 'input', 'change', 'keydown']) document.addEventListener(kind, () => fetch('/acted'), true);`;
    page = `<title>P</title>${html}<script>const it = document.getElementById('it'); ${tell} fetch('/wait').then(() => { ${turn}; fetch('/changed'); });</script>`;
    const opened = await world.run('browser_navigate', { url: `${site.origin}/page` });
    return textOf(opened);
  }

  async function changePage(): Promise<void> {
    change();
    await expect.poll(() => done, { interval: 10 }).toContain('changed');
  }

  it.each(inCheck(CHANGED, ({ what }) => what === 'a button that is renamed'))(
    '$what is refused',
    async (given) => {
      const ref = refIn(await openPage(given), given.line);
      await changePage();
      const refused = errorOf(await world.run(given.tool, { ref, ...given.args }));
      expect(refused).toMatch(/not what the snapshot showed|no longer on the page/);
      expect(refused).toContain('browser_snapshot');
      expect(done).toEqual(['changed']);
    },
  );

  // The call waits for what can't be clicked yet, and the page turns it meanwhile.
  it.each<Pick<Case, 'what' | 'html' | 'turn' | 'line' | 'tool' | 'args'>>(
    inCheck<Pick<Case, 'what' | 'html' | 'turn' | 'line' | 'tool' | 'args'>>(
      [
        {
          what: 'a button',
          html: '<button id="it" disabled>Go</button>',
          turn: 'it.textContent = "Delete everything"; it.disabled = false',
          line: 'button "Go"',
          tool: 'browser_click',
        },
        {
          what: 'a field',
          html: '<input id="it" aria-label="Search" disabled>',
          turn: 'it.ariaLabel = "Pay to"; it.disabled = false',
          line: 'textbox "Search"',
          tool: 'browser_type',
          args: { text: 'x' },
        },
        {
          what: 'a list',
          html: '<select id="it" aria-label="How" disabled><option>one<option>two</select>',
          turn: 'it.ariaLabel = "Delete"; it.disabled = false',
          line: 'combobox "How"',
          tool: 'browser_select',
          args: { values: ['two'] },
        },
      ],
      ({ what }) => what === 'a button',
    ),
  )('$what that changes while the call waits for it is refused', async (given) => {
    const ref = refIn(await openPage(given), given.line);
    const acting = world.run(given.tool, { ref, ...given.args });
    // The change mostly comes while the call waits. The answer must be the same at any time.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await changePage();
    expect(errorOf(await acting)).toMatch(/not what the snapshot showed|no longer on the page/);
    expect(done).toEqual(['changed']);
  });

  it('is what it was while something else on the page changes', async () => {
    const html = `${BUTTON}<p id="other">1</p>`;
    const ref = refIn(
      await openPage({ html, turn: 'other.textContent = "2"; other.id = "x"' }),
      'button "Go"',
    );
    await changePage();
    expect(textOf(await world.run('browser_click', { ref }))).toContain('Clicked button "Go".');
    expect(done).toContain('acted');
  });

  it.runIf(isLongRun())('is a field whatever was typed into it', async () => {
    const html = '<input id="it" aria-label="Search">';
    const ref = refIn(
      await openPage({ html, turn: 'it.value = "typed by the page"' }),
      'textbox "Search"',
    );
    await changePage();
    expect(textOf(await world.run('browser_type', { ref, text: 'mine' }))).toContain('mine');
  });
});
