import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { createTestFolder, inCheck, isLongRun } from '@ethosagent/test-support';
import type { NetworkPolicy, ToolResult } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type BrowserWorld, createBrowserWorld, refIn } from './fixtures/browser-world.js';
import { chromiumPath, describeBrowser } from './fixtures/chromium.js';
import { type PageServer, servePages } from './fixtures/servers.js';

const SLOW = { action_timeout_ms: 60_000, navigation_timeout_ms: 120_000 };
const said = (result: ToolResult) => (result.ok ? result.value : result.error);

describeBrowser('the life of a browser', () => {
  let site: PageServer;
  const closers: Array<() => Promise<void>> = [];
  beforeAll(async () => {
    site = await servePages(
      {
        '/a': '<title>A</title><button>first</button>',
        '/b': '<title>B</title><button>second</button>',
        '/slow': () => {},
      },
      (close) => closers.push(close),
    );
  });
  afterAll(() => Promise.all(closers.map((close) => close())));
  const worldOf = (settings: Record<string, unknown> = {}, more: object = {}): BrowserWorld => {
    const allow = [`127.0.0.1:${site.port}`];
    const world = createBrowserWorld({ allow, settings: { ...SLOW, ...settings }, ...more });
    onTestFinished(() => world.close());
    return world;
  };
  const open = (world: BrowserWorld, path = '/a', ctx = {}) =>
    world.run('browser_navigate', { url: `${site.origin}${path}` }, ctx);

  it.runIf(isLongRun())('a ref of a browser before fits no element of the next', async () => {
    const world = worldOf();
    const ref = refIn(textOf(await open(world)), 'button "first"');
    await world.run('browser_close');
    const next = textOf(await open(world, '/b'));
    expect(refIn(next, 'button "second"')).not.toBe(ref);
    const clicked = await world.run('browser_click', { ref });
    expect(errorOf(clicked)).toContain('Take a new browser_snapshot');
  });

  it.runIf(isLongRun())('a ref of a process before fits no element of the next', async () => {
    const [before, after] = [worldOf(), worldOf()];
    const refs = await Promise.all(
      [before, after].map(async (world) => refIn(textOf(await open(world)), 'button "first"')),
    );
    expect(refs[0]).not.toBe(refs[1]);
    expect(errorOf(await after.run('browser_click', { ref: refs[0] }))).toContain(
      'Take a new browser_snapshot',
    );
  });

  it.runIf(isLongRun())(
    'calls of one batch run in its order, also while the browser starts',
    async () => {
      const world = worldOf();
      const results = await world.runAll([
        ['browser_snapshot', {}],
        ['browser_navigate', { url: `${site.origin}/a` }],
        ['browser_snapshot', {}],
        ['browser_close', {}],
        ['browser_snapshot', {}],
        ['browser_navigate', { url: `${site.origin}/b` }],
        ['browser_wait', { seconds: 0.1 }],
      ]);
      expect(results.map((result) => said(result).split('\n').at(-1))).toEqual([
        expect.stringContaining('No page is open'),
        expect.stringContaining('button "first"'),
        expect.stringContaining('button "first"'),
        'The browser is closed.',
        expect.stringContaining('No page is open'),
        expect.stringContaining('button "second"'),
        'Waited 0.1 s.',
      ]);
    },
  );

  it.runIf(isLongRun())(
    'browser_close does not wait for ever for the calls before it',
    async () => {
      const world = worldOf();
      await open(world);
      const opening = open(world, '/slow');
      const settings = { ...SLOW, navigation_timeout_ms: 300 };
      Object.assign(world.settings, settings);
      expect(said(await world.run('browser_close'))).toBe('The browser is closed.');
      expect(errorOf(await opening)).toMatch(/ended meanwhile|was closed/);
    },
  );

  const narrower: [what: string, policy: NetworkPolicy][] = [
    ['that denies the host', { allow: ['*'], deny: ['127.0.0.1'] }],
    ['that allows another host only', { allow: ['a.test'] }],
  ];
  it.each(inCheck(narrower, ([what]) => what.includes('denies')))(
    'a call under a policy %s has another browser',
    async (_what, policy) => {
      const world = worldOf();
      const wide = { networkPolicy: { allow: [`127.0.0.1:${site.port}`] } };
      textOf(await open(world, '/a', wide));
      textOf(await world.run('browser_snapshot', {}, wide));
      const narrow = { networkPolicy: policy };
      const shown = errorOf(await world.run('browser_snapshot', {}, narrow));
      expect(shown).toContain('what it may reach has changed');
      expect(errorOf(await open(world, '/a', narrow))).toContain('HOST_NOT_ALLOWED');
    },
  );

  describe.runIf(isLongRun())('while it starts', () => {
    /** A browser that leaves a file when it starts, and resolves when the file is there. */
    function announcedBrowser(): { executable_path: string; started(): Promise<void> } {
      const { dir, remove } = createTestFolder('announced-browser');
      onTestFinished(remove);
      const [executable_path, mark] = [join(dir, 'browser'), join(dir, 'started')];
      writeFileSync(executable_path, `#!/bin/sh\n: > '${mark}'\nexec '${chromiumPath}' "$@"\n`);
      chmodSync(executable_path, 0o755);
      return {
        executable_path,
        started: () => expect.poll(() => existsSync(mark), { interval: 20 }).toBe(true),
      };
    }

    it('an abort leaves one that is closed when it is not used', async () => {
      const { executable_path, started } = announcedBrowser();
      const world = worldOf({ idle_ms: 100, executable_path });
      const stop = new AbortController();
      const opening = open(world, '/a', { abortSignal: stop.signal });
      await started();
      stop.abort();
      expect(await opening).toMatchObject({ ok: false });
      await expect
        .poll(async () => said(await world.run('browser_snapshot')), { interval: 500 })
        .toContain('had not been used for a while');
    });

    it('the end of its session is why the call failed', async () => {
      const { executable_path, started } = announcedBrowser();
      const world = worldOf({ executable_path });
      const opening = open(world);
      await started();
      await world.registry.endSession('s');
      const error = errorOf(await opening);
      expect(error).not.toContain('apt-get');
      expect(error).toMatch(/session has ended|ended meanwhile/);
    });
  });

  it.runIf(isLongRun())('a personality that changed is why its browser is gone', async () => {
    const world = worldOf();
    const ctx = { personalityId: 'p' };
    textOf(await open(world, '/a', ctx));
    await world.registry.endServices({ personalityId: 'p' });
    const told = errorOf(await world.run('browser_snapshot', {}, ctx));
    expect(told).toContain('the personality has changed');
  });
});
