import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck } from '@ethosagent/test-support';
import { expect, it, onTestFinished } from 'vitest';
import { createBrowserWorld } from './fixtures/browser-world.js';
import { describeBrowser } from './fixtures/chromium.js';
import { servePages } from './fixtures/servers.js';

describeBrowser('under a personality with a sandbox', () => {
  // On a machine with a sandbox, `preferred` means the same as `required`.
  it.each(inCheck(['required', 'preferred'] as const, (kind) => kind === 'required'))(
    'that is %s, the browser works in it, and reaches what it may',
    async (sandbox) => {
      const place = await servePages({});
      const site = await servePages({
        '/': `<h1>in</h1><img src="http://127.0.0.1:${place.port}/x">`,
      });
      const world = createBrowserWorld({
        allow: [`127.0.0.1:${site.port}`],
        backends: { personalityProcess: { sandbox } },
      });
      onTestFinished(() => world.close());
      expect(textOf(await world.run('browser_navigate', { url: `${site.origin}/` }))).toContain(
        '"in"',
      );
      expect(place.connections).toBe(0);
      const away = await world.run('browser_navigate', { url: `${place.origin}/` });
      expect(errorOf(away)).toContain('HOST_NOT_ALLOWED');
      expect(JSON.stringify(world.audit.events)).toMatch(/declared as \*[^"]*sandbox/);
    },
  );
});
