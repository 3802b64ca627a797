import { existsSync, readFileSync } from 'node:fs';
import { isLongRun } from '@ethosagent/test-support';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beginCall } from '../fixtures/begun-call.js';
import { buildPage } from './fixtures/build-page.js';
import { callEvents, openInspectedHome } from './fixtures/inspected-home.js';
import {
  openInspector,
  type RunningInspector,
  signIn,
  startChromium,
  type WatchOptions,
  watchPage,
} from './fixtures/open-inspector.js';

let browser: Browser;
let world: ReturnType<typeof openInspectedHome>;
let inspector: RunningInspector | undefined;
beforeAll(async () => {
  await buildPage();
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(() => {
  world = openInspectedHome();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await inspector?.stop();
  inspector = undefined;
  world.remove();
});

const open = async (options: WatchOptions = {}) => {
  inspector = await openInspector(world);
  const watched = await watchPage(browser, inspector.origin, options);
  await watched.page.goto(inspector.url);
  await watched.page.getByRole('heading', { level: 1 }).waitFor();
  return { ...watched, inspector };
};

describe('the page signs in', () => {
  it('with the token of its address, takes it out of the address, and stays signed in', async () => {
    const { page, inspector, wrongs } = await open();
    await page.getByRole('heading', { name: 'Reach' }).waitFor();
    expect(page.url()).toBe(`${inspector.origin}/`);
    await page.reload();
    await page.getByRole('heading', { name: 'Reach' }).waitFor();
    expect(await wrongs()).toEqual([]);
  });

  it.runIf(isLongRun())('only once with one address', async () => {
    const { inspector } = await open();
    const second = await watchPage(browser, inspector.origin);
    await second.page.goto(inspector.url);
    await second.page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    const third = await watchPage(browser, inspector.origin);
    await third.page.goto(inspector.origin);
    await third.page.getByRole('heading', { name: 'Not signed in' }).waitFor();
  });

  it.runIf(isLongRun())('and the command ends with 0 on Ctrl-C', async () => {
    const { page, inspector } = await open();
    await page.getByText('Live.').waitFor();
    expect(await inspector.stop()).toBe(0);
    await page.getByText('The inspector has ended').waitFor();
  });
});

describe('the matrix', () => {
  it.runIf(isLongRun())('shows who may touch what, and why, by keyboard', async () => {
    const { page, wrongs } = await open();
    const grid = page.getByRole('grid', { name: 'Reach of coder' });
    await grid.waitFor();
    expect(await grid.getByRole('columnheader').allTextContents()).toEqual([
      'What',
      'read_file',
      'write_file',
      'search',
    ]);
    const cell = grid.getByRole('button', { name: /^search, api\.example\.com/ });
    await cell.focus();
    const why = page.getByRole('region', { name: 'Why' });
    await why.getByText('network.allowedHosts[0] = "api.example.com"').waitFor();
    await why
      .getByText('personalities/coder/config.yaml:9  safety.network.allow[0] = "api.example.com"')
      .waitFor();
    await page.keyboard.press('ArrowDown');
    await why.getByText('safety.network.allow[1] = "*.example.org"').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toContain('docs.example.org');
    expect(await wrongs()).toEqual([]);
  });

  it.runIf(isLongRun())('is filtered, and shows another personality', async () => {
    const { page } = await open();
    await page.getByLabel('Host, path, secret, program').fill('providers/');
    await page.getByText('3 tools, 1 row').waitFor();
    await page.getByLabel('Tool', { exact: true }).fill('read');
    await page.getByText('1 tool, 0 rows').waitFor();
    await page.getByLabel('Personality').selectOption('reader');
    await page.getByRole('grid', { name: 'Reach of reader' }).waitFor();
    await page.getByText('1 tool, 1 row').waitFor();
  });
});

describe('the audit log', () => {
  it.runIf(isLongRun())('is searched and verified, ten thousand events of it', async () => {
    world.writeLog(callEvents(5_000));
    const { page, wrongs } = await open();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('10,000 events', { exact: true }).waitFor();
    const grid = page.getByRole('grid', { name: 'Events' });
    expect(await grid.getAttribute('aria-rowcount')).toBe('10001');
    // Only the rows in view are in the document.
    expect(await grid.getByRole('row').count()).toBeLessThan(200);
    await grid.focus();
    await page.keyboard.press('End');
    await page
      .getByRole('region', { name: 'Event' })
      .getByText('other.jsonl, event 1', { exact: true })
      .waitFor();
    await page.keyboard.press('Home');
    await page
      .getByRole('region', { name: 'Event' })
      .getByText('other.jsonl, event 10000')
      .waitFor();
    await page.getByLabel('Host').fill('api.example.com');
    await page.getByLabel('Decision').selectOption('denied');
    await page.getByText('167 events').waitFor();
    await page.getByLabel('Host').fill('');
    await page.getByLabel('Text').fill('notes/4997');
    await page.getByText('0 events', { exact: true }).waitFor();
    await page.getByLabel('Decision').selectOption('');
    await page.getByText('1 event', { exact: true }).waitFor();
    expect(await wrongs()).toEqual([]);
  });

  it.runIf(isLongRun())('says where it was changed', async () => {
    world.writeLog(callEvents(2));
    const { page } = await open();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('4 events, none changed, added or removed.').waitFor();
    const text = readFileSync(`${world.home}/audit/other.jsonl`, 'utf8');
    world.write('.ethos/audit/other.jsonl', text.replace('notes/1', 'notes/9'));
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('edited: ').waitFor();
  });
});

describe('live calls', () => {
  it('come as they happen, while the agent runs in another process', async () => {
    const { page, wrongs } = await open();
    await page.getByRole('link', { name: 'Live calls' }).click();
    await page.getByText('0 calls').waitFor();
    const agent = await world.openRuntime();
    try {
      await agent
        .session('s')
        .execute([{ toolCallId: 'c', name: 'read_file', args: { path: 'notes/a.txt' } }]);
      const row = page.getByRole('row', { name: /read_file ok/ });
      await row.click();
      await page.getByRole('region', { name: 'Call' }).getByText('notes/a.txt').first().waitFor();
      await agent
        .session('s')
        .execute([{ toolCallId: 'd', name: 'read_file', args: { path: 'outside.txt' } }]);
      await page.getByText('2 calls').waitFor();
      await page.getByLabel('Only failed and refused').check();
      await page.getByText('1 call', { exact: true }).waitFor();
    } finally {
      await agent.close();
    }
    expect(await wrongs()).toEqual([]);
  });

  // Only in a long run: it is the same table as that of the audit log, which is tested above with
  // ten thousand rows.
  it.runIf(isLongRun())('are ten thousand', async () => {
    world.writeLog(callEvents(10_000));
    const { page } = await open();
    await page.getByRole('link', { name: 'Live calls' }).click();
    await page.getByText('10,000 calls').waitFor();
    await page.getByRole('grid', { name: 'Calls' }).focus();
    await page.keyboard.press('End');
    await page.getByRole('region', { name: 'Call' }).getByText('call-0', { exact: true }).waitFor();
  });
});

const WRITE = {
  toolCallId: 'w',
  name: 'write_file',
  args: { path: 'notes/b.txt', content: 'one\ntwo\n' },
};

describe('approvals', () => {
  const waiting = async () => {
    const agent = await world.openRuntime();
    const session = agent.session('s');
    await session.execute([{ toolCallId: 'r', name: 'read_file', args: { path: 'notes/a.txt' } }]);
    await session.execute([WRITE]);
    return { agent, session };
  };

  it('are decided with other arguments, shown as a difference; the agent goes on', async () => {
    const { agent, session } = await waiting();
    try {
      const { page, wrongs } = await open();
      await page.getByRole('link', { name: /Approvals 1/ }).click();
      const card = page.getByRole('article', { name: 'write_file' });
      await card.getByText('notes/a.txt').first().waitFor();
      await card.getByText('Change the arguments').click();
      const edit = card.getByLabel('The arguments as JSON');
      const proposed = await edit.inputValue();
      await edit.fill('{ no');
      await card.getByText('These arguments are not JSON.').waitFor();
      expect(await card.getByRole('button', { name: 'Yes, run it' }).isDisabled()).toBe(true);
      await edit.fill(proposed.replace('two', 'three'));
      expect(await card.locator('.diff-line.old').allTextContents()).toEqual(['-taken out:   two']);
      expect(await card.locator('.diff-line.new').allTextContents()).toEqual(['+put in:   three']);
      await card.getByRole('button', { name: 'Yes, run it' }).click();
      await page.getByText('Nothing waits.').waitFor();
      const [done] = await session.resume();
      expect(done?.result.ok).toBe(true);
      expect(readFileSync(`${world.cwd}/notes/b.txt`, 'utf8')).toBe('one\nthree\n');
      expect(await wrongs()).toEqual([]);
    } finally {
      await agent.close();
    }
  });

  it('have those beside them that have begun, until they are removed from the list', async () => {
    const { session, end } = await beginCall(world);
    try {
      const { page, wrongs } = await open();
      await page.getByRole('link', { name: 'Approvals' }).click();
      const card = page.getByRole('article', { name: 'slow has no recorded end' });
      await card.getByText('it may have run').waitFor();
      await page.getByText('Nothing waits.').waitFor();
      await card.getByRole('button', { name: 'Remove from the list' }).click();
      await card.waitFor({ state: 'detached' });
      expect(await session.unfinished()).toEqual([]);
      expect(await wrongs()).toEqual([]);
    } finally {
      expect(await end()).toBe(true);
    }
  });

  it('that wait are not removed as if they had begun', async () => {
    const { agent, session } = await waiting();
    try {
      inspector = await openInspector(world);
      const ask = await signIn(inspector);
      const [{ toolCallId, question } = { toolCallId: '', question: '' }] = await session.pending();
      const removal = { sessionId: 's', toolCallId, question };
      expect(await ask('/api/unfinished', removal)).toMatchObject({ value: { unfinished: [] } });
      expect(await session.pending()).toMatchObject([{ question }]);
      const refused = await ask('/api/unfinished', { ...removal, question: 7 });
      expect(JSON.stringify(refused)).toContain('names no unfinished call');
    } finally {
      await agent.close();
    }
  });

  it.runIf(isLongRun())('are refused with a reason that the model reads', async () => {
    const { agent, session } = await waiting();
    try {
      const { page } = await open();
      await page.getByRole('link', { name: /Approvals 1/ }).click();
      await page.getByLabel('Reason, for the model').fill('not today');
      await page.getByRole('button', { name: 'No', exact: true }).click();
      await page.getByText('Nothing waits.').waitFor();
      const [done] = await session.resume();
      expect(done?.text).toContain('not today');
    } finally {
      await agent.close();
    }
  });

  it.runIf(isLongRun())('do not widen what the call may reach', async () => {
    const { agent, session } = await waiting();
    try {
      const { page } = await open();
      await page.getByRole('link', { name: /Approvals 1/ }).click();
      await page.getByText('Change the arguments').click();
      await page.getByLabel('The arguments as JSON').fill('{"path":"outside.txt","content":"x"}');
      await page.getByRole('button', { name: 'Yes, run it' }).click();
      await page.getByRole('alert').filter({ hasText: 'write not permitted' }).waitFor();
      expect((await session.pending())[0]?.decision).toBeUndefined();
      expect(existsSync(`${world.cwd}/outside.txt`)).toBe(false);
    } finally {
      await agent.close();
    }
  });

  it.runIf(isLongRun())(
    'that the tool does not take are said to be wrong, and still wait',
    async () => {
      const { agent, session } = await waiting();
      try {
        const { page } = await open();
        await page.getByRole('link', { name: /Approvals 1/ }).click();
        await page.getByText('Change the arguments').click();
        await page.getByLabel('The arguments as JSON').fill('{"path":7}');
        await page.getByRole('button', { name: 'Yes, run it' }).click();
        await page.getByRole('alert').filter({ hasText: 'path' }).waitFor();
        expect((await session.pending())[0]?.decision).toBeUndefined();
      } finally {
        await agent.close();
      }
    },
  );

  it.runIf(isLongRun())('come and go while the page is open, also those of an agent', async () => {
    const { page } = await open();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByText('Nothing waits.').waitFor();
    await world.run(['run', 'read_file {"path":"notes/a.txt"}', '--session', 'agent']);
    const paused = await world.run([
      ...['run', 'write_file {"path":"notes/c.txt","content":"x"}'],
      ...['--session', 'agent'],
    ]);
    expect(paused.code).toBe(1);
    await page.getByRole('article', { name: 'write_file' }).waitFor();
    await page.getByRole('button', { name: 'Yes, run it' }).click();
    await page.getByText('Nothing waits.').waitFor();
    const chat = await world.run(['chat', '--session', 'agent'], { ask: async () => '' });
    expect(chat.code).toBe(0);
    expect(readFileSync(`${world.cwd}/notes/c.txt`, 'utf8')).toBe('x');
  });
});

describe('sessions', () => {
  it.runIf(isLongRun())('are read with their calls, and what became of them', async () => {
    await world.run(['run', 'read_file {"path":"notes/a.txt"}', '--session', 'talk']);
    const { page, wrongs } = await open();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('row', { name: /talk/ }).click();
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await conversation.getByText('read_file {"path":"notes/a.txt"}').waitFor();
    await conversation.getByText('path: "notes/a.txt"').waitFor();
    await conversation.getByText(/ok, \d+ ms/).waitFor();
    await conversation.getByText('a page from elsewhere').first().waitFor();
    expect(await wrongs()).toEqual([]);
  });
});

describe('the reach lock', () => {
  it.runIf(isLongRun())(
    'is compared with what there is now, with the line that widened it',
    async () => {
      const { page } = await open();
      await page.getByRole('link', { name: 'Reach lock' }).click();
      await page.getByText('There is no lock.').waitFor();
      expect((await world.run(['lock'])).code).toBe(0);
      await page.getByRole('button', { name: 'Compare again' }).click();
      await page.getByText('The reach is as').waitFor();
      world.widen();
      await page.getByRole('button', { name: 'Compare again' }).click();
      await page.getByRole('heading', { name: /^Widened/ }).waitFor();
      await page.getByText('coder, write_file').first().waitFor();
      await page
        .getByText(/personalities\/coder\/config\.yaml:6$/)
        .first()
        .waitFor();
    },
  );
});
