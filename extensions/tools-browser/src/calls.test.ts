import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { isLongRun } from '@ethosagent/test-support';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createBrowserWorld } from './fixtures/browser-world.js';
import { chromiumPath, describeBrowser } from './fixtures/chromium.js';
import { servePages } from './fixtures/servers.js';

const REF = 'kq1';
const chromiumName = basename(chromiumPath ?? 'chromium');

describe('calls without a browser', () => {
  const world = createBrowserWorld();
  afterAll(() => world.close());

  const calls: [name: string, args: Record<string, unknown>][] = [
    ['browser_snapshot', {}],
    ['browser_click', { ref: REF }],
    ['browser_type', { ref: REF, text: 'x' }],
    ['browser_select', { ref: REF, values: ['x'] }],
    ['browser_fill', { fields: [{ ref: REF, value: 'x' }] }],
    ['browser_press', { key: 'Enter' }],
    ['browser_hover', { ref: REF }],
    ['browser_drag', { from: REF, to: REF }],
    ['browser_dialog', { ref: REF, accept: true }],
    ['browser_find', { text: 'x' }],
    ['browser_tabs', {}],
    ['browser_network', {}],
    ['browser_save', { path: 'page.pdf' }],
    ['browser_scroll', {}],
    ['browser_back', {}],
    ['browser_wait', {}],
    ['browser_console', {}],
    ['browser_screenshot', {}],
    ['browser_upload', { ref: REF, paths: ['a'] }],
    ['browser_download', { ref: REF }],
  ];
  it.each(calls)('%s says that no page is open', async (name, args) => {
    expect(errorOf(await world.run(name, args))).toContain('browser_navigate');
  });

  it.each([
    ...calls,
    ['browser_navigate', { url: 'http://a.test/' }],
    ['browser_close', {}],
  ] as const)('%s does nothing on a dry run', async (name, args) => {
    const result = await world.run(name, args, { dryRun: true });
    expect(textOf(result)).toContain('[dry-run]');
    expect(result).toMatchObject({ untrusted: false });
    expect(world.audit.events).toEqual([]);
  });

  const wrong: [name: string, args: Record<string, unknown>, expected: string][] = [
    ['browser_click', { ref: 'e1e' }, 'a ref of the last snapshot'],
    ['browser_click', { ref: 'kq1 >> css=*' }, 'a ref of the last snapshot'],
    ['browser_press', { key: 'Nonsense' }, 'expected a key'],
    ['browser_press', { key: '' }, 'expected a key'],
    ['browser_wait', { text: 'a', text_gone: 'b' }, 'not both'],
    ['browser_wait', { seconds: 1e9 }, 'seconds'],
    ['browser_screenshot', { full_page: true, ref: REF }, 'not both'],
    ['browser_select', { ref: REF, values: [] }, 'values'],
    ['browser_upload', { ref: REF, paths: [] }, 'paths'],
    ['browser_snapshot', { from_line: 0 }, 'from_line'],
    ['browser_navigate', { url: 'http://user:pass@x.example/' }, 'without a user name'],
    ['browser_navigate', { url: 'https://user@x.example/' }, 'without a user name'],
    ['browser_save', { path: 'page.html' }, 'ends in .pdf'],
    ['browser_dialog', { ref: REF, accept: false, text: 'x' }, 'only with accept'],
    ['browser_tabs', { action: 'close' }, 'expected a tab'],
    // The refused call must not close the tab that it names.
    ['browser_tabs', { tab: 1 }, 'expected a tab with show and close'],
  ];
  it.each(wrong)('%s refuses %j', async (name, args, expected) => {
    const result = await world.run(name, args);
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
    expect(errorOf(result)).toContain(expected);
  });
});

describe('where there is no browser to be had', () => {
  it.each([
    { settings: { executable_path: '/nowhere/chromium' }, says: 'apt-get install chromium' },
    { settings: { executable_path: '/bin/false' }, says: 'apt-get install chromium' },
  ])('$settings is not available, and says how to install one', async ({ settings, says }) => {
    const world = createBrowserWorld({ allow: ['*'], settings });
    onTestFinished(() => world.close());
    const result = await world.run('browser_navigate', { url: 'about:blank' });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(errorOf(result)).toContain(says);
    expect(errorOf(result)).toContain('executable_path');
  });
});

describeBrowser('where the personality has a say in arguments', () => {
  it.each([
    { args: { sh: { deny: ['-c'] } }, code: 'execution_failed', says: 'argument 0 of sh' },
    {
      args: { [chromiumName]: { deny: ['--headless=new'] } },
      code: 'execution_failed',
      says: `of ${chromiumName}`,
    },
    {
      args: { [chromiumName]: { deny: ['--user-data-dir=/tmp/*'] } },
      code: 'execution_failed',
      says: `of ${chromiumName}`,
    },
  ])('$args is $code, and says why', async ({ args, code, says }) => {
    const backends = { personalityProcess: { arguments: args } };
    const world = createBrowserWorld({
      settings: { executable_path: chromiumPath },
      backends,
    });
    onTestFinished(() => world.close());
    const result = await world.run('browser_navigate', { url: 'about:blank' });
    expect(result).toMatchObject({ ok: false, code });
    expect(errorOf(result)).toContain(says);
    expect(errorOf(result)).not.toContain('apt-get');
  });
});

describeBrowser('browsers of several sessions', () => {
  it('share nothing, are bounded, and end with their session', async () => {
    const site = await servePages({
      '/': `<script>document.cookie = 'who=' + (document.cookie.slice(4) || location.search.slice(1)); document.write('I am ' + document.cookie)</script>`,
    });
    const world = createBrowserWorld({
      allow: [`127.0.0.1:${site.port}`],
      settings: { max_sessions: 2 },
    });
    onTestFinished(() => world.close());
    const go = (sessionId: string, personalityId?: string) =>
      world.run(
        'browser_navigate',
        { url: `${site.origin}/?${sessionId}` },
        { sessionId, ...(personalityId !== undefined && { personalityId }) },
      );
    expect(textOf(await go('a'))).toContain('I am who=a');
    expect(textOf(await go('b'))).toContain('I am who=b');
    const third = await go('a', 'another');
    expect(errorOf(third)).toContain('2 browsers run already');
    await world.registry.endSession('b');
    expect(errorOf(await world.run('browser_snapshot', {}, { sessionId: 'b' }))).toContain(
      'No page is open',
    );
    expect(textOf(await go('a', 'another'))).toContain('I am who=a');
  });

  it.runIf(isLongRun())(
    'one that is not used is closed, the next call says so, and the one after begins anew',
    async () => {
      const world = createBrowserWorld({ settings: { idle_ms: 200 } });
      onTestFinished(() => world.close());
      textOf(await world.run('browser_navigate', { url: 'about:blank' }));
      await expect
        .poll(async () => JSON.stringify(await world.run('browser_snapshot')), { interval: 500 })
        .toContain('had not been used for a while');
      textOf(await world.run('browser_navigate', { url: 'about:blank' }));
    },
  );

  it('approval is asked for what the settings name', async () => {
    const asked: string[] = [];
    const world = createBrowserWorld({
      settings: { ask_before: ['browser_navigate'] },
      backends: {
        approve: ({ toolName }) => {
          asked.push(toolName);
          return false;
        },
      },
    });
    onTestFinished(() => world.close());
    const result = await world.run('browser_navigate', { url: 'http://a.test/' });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(asked).toEqual(['browser_navigate']);
    expect(existsSync(join(world.dir, 'downloads'))).toBe(false);
  });
});
