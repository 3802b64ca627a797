import { MockLanguageModelV3 } from 'ai/test';

type Answer = Extract<Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>, { content: unknown }>;

let calls = 0;

/** What the model says, in place of one that costs money. */
export const model = new MockLanguageModelV3({
  doGenerate: [
    call('read_file', { path: 'invoice.txt' }),
    // Reads the ledger first, as `write_file` wants it.
    call('read_file', { path: 'ledger.txt' }),
    call('write_file', { path: 'ledger.txt', content: '' }),
    say('The invoice is entered.'),
    call('hold', {}),
  ],
});

function call(toolName: string, args: object): Answer {
  const input = JSON.stringify(args);
  return answer({ type: 'tool-call', toolCallId: `call-${++calls}`, toolName, input });
}

function say(text: string): Answer {
  return answer({ type: 'text', text });
}

function answer(part: Answer['content'][number]): Answer {
  const unified = part.type === 'text' ? 'stop' : 'tool-calls';
  return {
    content: [part],
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 10, text: 10, reasoning: 0 },
    },
    warnings: [],
  };
}
