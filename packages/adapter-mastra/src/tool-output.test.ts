import { expect, it } from 'vitest';
import { modelOutput } from './tool-output.js';

it('modelOutput shows images that a model takes, and no others', () => {
  const png = { mediaType: 'image/png', data: 'AA==' };
  const others = ['image/svg+xml', 'text/html', 7].map((mediaType) => ({
    mediaType,
    data: 'AA==',
  }));
  const text = { type: 'text', text: 'x' };
  expect(modelOutput({ text: 'x', images: [...others, png, { mediaType: 'image/png' }] })).toEqual({
    type: 'content',
    value: [text, { type: 'image-data', ...png }],
  });
  expect(modelOutput({ text: 'x', images: others })).toEqual({ type: 'text', value: 'x' });
});
