import { EthosError } from '@ethosagent/types';
import { expect, it } from 'vitest';
import type { CliIo } from './cli-io.js';
import { Output } from './output.js';

it('an error in JSON has its code and its message', () => {
  let written = '';
  const io = { colors: false, out: (text: string) => (written += text) } as unknown as CliIo;
  const error = new EthosError('MODEL_FAILED', 'the model call failed');
  new Output(io, true).jsonLine({ type: 'error', error });
  expect(JSON.parse(written)).toEqual({
    type: 'error',
    error: { code: 'MODEL_FAILED', message: 'the model call failed' },
  });
  written = '';
  new Output(io, true).json({ cause: new TypeError('odd') });
  expect(JSON.parse(written)).toEqual({ cause: { message: 'odd' } });
});
