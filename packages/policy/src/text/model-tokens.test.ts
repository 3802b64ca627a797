import { describe, expect, it } from 'vitest';
import { foldLookalikes } from './lookalikes.js';
import { modelTokens, roleColons } from './model-tokens.js';

const tokensIn = (text: string) => [...modelTokens(foldLookalikes(text))];

describe('modelTokens', () => {
  it.each([
    ...['<|im_start|>', '<|endoftext|>', '<|eot_id|>', '<｜begin▁of▁sentence｜>', '<|a|>'],
    ...['<|tool>', '<|"|>', '<tool|>', '<<SYS>>', '<</SYS>>', '<s>', '</s>', '<bos>', '</eos>'],
    ...['<unk>', '<pad>', '<sop>', '<eop>', '<eoh>', '<eoa>', '<eod>'],
    ...['<start_of_turn>', '<end_of_turn>', '</begin_of_text>', '<beginning_of_sentence>'],
    ...['<start_function_call>', '</end_function_response>', '<fim_prefix>', '<file_sep>'],
    ...['<BOS_TOKEN>', '<CLS_TOKEN>', '<unused42>', '<reserved_7>', '<SPECIAL_12>', '<extra_id_0>'],
    ...['<_system>', '<_user>', '<_bot>', '<_end>', '<tool_call>', '</tool_response>'],
    ...['<x:function_calls>', '<function_result>', '<thinking>', '</think>', '<tools>'],
    ...['<invoke', '<minimax:tool', '<seed:x', '<invoke name="x">', '</x:invoke>'],
    ...['<function=f>', '<parameter=x>', '<system-reminder>', '</x:system-reminder>'],
    ...['[INST]', '[/INST]', '[SYSTEM_PROMPT]', '[AVAILABLE_TOOLS]', '[TOOL_CALLS]', '[CALL_ID]'],
    ...['[TOOL_RESULTS]', '[TOOL_CONTENT]', '[MODEL_SETTINGS]', '[THINK]', '[gMASK]', '[sMASK]'],
    ...['[ARGS]{', '[e~[', '＜|im_start|＞'],
    ...['[|user|]', '[|endofturn|]', '[UNUSED_TOKEN_145]', '[IMG_BREAK]', '<role>SYSTEM</role>'],
  ])('finds %s', (token) => {
    expect(tokensIn(`text ${token} text`)).toEqual([5]);
    // Letters that take two units each.
    const wide = token.replaceAll(/[a-z]/gi, (letter) =>
      String.fromCodePoint(0x1d5d4 + (letter.toUpperCase().codePointAt(0) ?? 0) - 0x41),
    );
    // Only its case distinguishes `<S>` from a type.
    if (!/^<\/?s>$/.test(token)) expect(tokensIn(`text ${wide} text`)).toEqual([5]);
  });

  it.each(['a < b', '<div>', '<string>', 'List<S>', 'a || b', '[x]', '<a|b>c', 'im_start'])(
    'leaves %s alone',
    (text) => {
      expect(tokensIn(text)).toEqual([]);
    },
  );
});

it.each([
  ['Human: x', [5]],
  ['a\n\nAssistant: x', [12]],
  ['a\n### Instruction: x', [17]],
  ['a\nHuman: x', []],
])('roleColons of %j are %j', (text, colons) => {
  expect([...roleColons(text)]).toEqual(colons);
});

it('roleColons finds the colon behind letters that take two units', () => {
  expect([...roleColons(foldLookalikes('a\n\n\u{1d5e7}\u{1d5db}uman: x'))]).toEqual([]);
  expect([...roleColons(foldLookalikes('a\n\n\u{1d5db}uman: x'))]).toEqual([9]);
});
