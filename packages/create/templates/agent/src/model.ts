import { openai } from '@ai-sdk/openai';
import { scriptedModel } from '@ethosagent/plugin-sdk/testing';
import type { LanguageModel } from 'ai';

/** A real model where OPENAI_API_KEY is set. Else a script, which costs nothing. */
export const model: LanguageModel = process.env.OPENAI_API_KEY
  ? openai('gpt-5-mini')
  : scriptedModel([
      [['count_words', { path: 'workspace/hello.txt' }]],
      [['count_words', { path: 'package.json' }]],
      'hello.txt has 8 words. I may not read package.json.',
    ]);
