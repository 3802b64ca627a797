import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '@ethosagent/plugin-sdk/testing';
import plugin from './index.js';
import { openRuntime } from './open-runtime.js';

test('the plugin brings its tool and its reducer, and takes the tool away', async () => {
  const runtime = await openRuntime();
  const call = { toolCallId: '1', name: 'count_words', args: { path: 'workspace/hello.txt' } };
  const [answer] = await runtime.execute([call]);
  assert.equal(textOf(answer?.result), 'It has 8 words.');

  await runtime.plugins.unload(plugin.id);
  const [after] = await runtime.execute([{ ...call, toolCallId: '2' }]);
  assert.equal(after?.result.ok, false);
  await runtime.close();
});
