import {
  type ScriptedModel,
  type ScriptedStep,
  scriptedModel,
} from '@ethosagent/plugin-sdk/testing';

/** What a model could have said: each step is an answer, or calls. */
const CODER: ScriptedStep[] = [
  [
    ['search_files', { pattern: 'total' }],
    ['read_file', { path: 'src/total.js' }],
    ['run_tests', {}],
  ],
  [
    [
      'patch_file',
      { path: 'src/total.js', hunks: [{ search: 'sum - price', replace: 'sum + price' }] },
    ],
  ],
  [
    ['run_tests', {}],
    ['task', { prompt: 'Review src/total.js: does it add up?', personality: 'reviewer' }],
  ],
  [
    [
      'memory_write',
      {
        action: 'add',
        section: 'Mistakes',
        text: 'total() in src/total.js subtracted the prices.',
      },
    ],
  ],
  'total() subtracted where it should add. It adds now, the test passes, and a reviewer agrees.',
];
const REVIEWER: ScriptedStep[] = [
  [
    ['read_file', { path: 'src/total.js' }],
    ['read_file', { path: 'package.json' }],
  ],
  'It adds up: the sum starts at 0 and every price is added.',
];

/** Stands in for a model, so that the example runs anywhere. */
export function codingModel(): ScriptedModel {
  return scriptedModel(({ prompt }) => {
    const isReviewer = JSON.stringify(prompt).includes('Review src/total.js: does it add up?"}');
    const at = prompt.filter(({ role }) => role === 'assistant').length;
    return (isReviewer ? REVIEWER : CODER)[at] ?? 'Done.';
  });
}
