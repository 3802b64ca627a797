import Anthropic from '@anthropic-ai/sdk';

type Content = (
  | { type: 'text'; text: string }
  | { type: 'tool_use'; name: string; input: object }
)[];

/** What the model says, in place of one that costs money. */
const REPLIES: Content[] = [
  [{ type: 'tool_use', name: 'read_file', input: { path: 'invoice.txt' } }],
  // Reads the ledger first, as `write_file` wants it.
  [{ type: 'tool_use', name: 'read_file', input: { path: 'ledger.txt' } }],
  [{ type: 'tool_use', name: 'write_file', input: { path: 'ledger.txt', content: '' } }],
  [{ type: 'text', text: 'The invoice is entered.' }],
  [{ type: 'tool_use', name: 'hold', input: {} }],
];

let count = 0;

export const client = new Anthropic({
  apiKey: 'none',
  fetch: async () => {
    const [content = []] = REPLIES.splice(0, 1);
    const id = ++count;
    return Response.json({
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      content: content.map((block) =>
        block.type === 'tool_use' ? { ...block, id: `toolu_${id}` } : block,
      ),
      stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 100, output_tokens: 10 },
    });
  },
});
