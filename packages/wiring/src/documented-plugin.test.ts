import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pluginOf } from '@ethosagent/plugin-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolRuntime } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

let home: string;
let runtime: ToolRuntime;

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'documented-')));
  personality('open', '');
  personality('named', 'plugins: ["@acme/greetings"]\n');
  personality('closed', 'plugins: []\n');
  runtime = await createToolRuntime({
    home,
    personality: 'open',
    tools: [],
    plugins: [pluginOf('@acme/greetings', await import('./fixtures/documented-plugin.js'))],
  });
});
afterEach(async () => {
  await runtime.close();
  rmSync(home, { recursive: true, force: true });
});

function personality(id: string, more: string): void {
  const folder = join(home, 'personalities', id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.yaml'), `name: ${id}\n${more}`);
}

describe('a plugin that was written for the documented system', () => {
  it.each([
    ['open', true],
    ['named', true],
    ['closed', false],
  ])('has the id of its package, under the personality %s', async (id, isIn) => {
    const names = (await runtime.definitions(id)).map(({ name }) => name);
    expect(names).toEqual(isIn ? ['greet'] : []);
    const call = { toolCallId: 'c', name: 'greet', args: { name: 'Ada' } };
    const [answer] = await runtime.execute([call], { personality: id, sessionId: 's' });
    expect(answer?.result).toMatchObject(
      isIn ? { ok: true, value: 'hello Ada in s' } : { ok: false, code: 'not_available' },
    );
  });

  it('says what is wrong as it was written to', async () => {
    const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'greet', args: {} }]);
    expect(answer?.result).toMatchObject({ ok: false, code: 'input_invalid' });
    expect(runtime.plugins.list()).toMatchObject([{ id: '@acme/greetings', tools: ['greet'] }]);
  });
});
