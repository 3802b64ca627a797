import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, runTool, textOf } from '@ethosagent/plugin-sdk/testing';
import { countWords } from './count-words.js';

const files = { '/workspace/poem.txt': 'so much depends upon' };

test('count_words counts the words of a file', async () => {
  const { result } = await runTool(countWords, { path: 'poem.txt' }, { files });
  assert.equal(textOf(result), '4 words');
});

test('count_words reads nothing outside of its reach', async () => {
  const { result } = await runTool(countWords, { path: '/etc/passwd' }, { files });
  assert.match(errorOf(result), /^PATH_NOT_REACHABLE/);
});
