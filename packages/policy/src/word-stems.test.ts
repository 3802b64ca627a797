import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { describe, expect, it } from 'vitest';
import { indexedWords, wordStem } from './word-stems.js';

it.each([
  ['running', 'run'],
  ['libraries', 'librari'],
  ['library', 'librari'],
  ['is', 'is'],
  ['utf8', 'utf8'],
  ['работает', 'работает'],
])('wordStem of %j is %j', (word, stem) => expect(wordStem(word)).toBe(stem));

describe('indexedWords', () => {
  it.each<[string, string, string]>([
    ['Runs fast.', 'runs fast', 'run'],
    ['set maxTextChars=5', 'set maxtextchars 5', 'maxtextchar max text char'],
    ['XMLHttpRequest', 'xmlhttprequest', 'xml http request'],
    ['an HTTP API', 'an http api', ''],
    ['aB cD', 'ab cd', ''],
    ['', '', ''],
  ])('of %j are %j, and besides %j', (text, words, stems) => {
    expect(indexedWords(text)).toEqual({ words, stems });
  });

  for (const part of ['aB', 'running ', 'maxTextChars ', 'é']) {
    growsLinearly(
      `take linear time for the repetition of ${JSON.stringify(part)}`,
      (size) => part.repeat(size),
      indexedWords,
    );
  }
});
