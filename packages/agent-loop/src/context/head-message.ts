import { markUntrusted } from '@ethosagent/core';
import { canonicalJson, takeStart } from '@ethosagent/policy';
import type { UserRecord } from '../journal/records.js';
import type { Notice, SummedUp } from './apply-context.js';

const NOTE =
  '[What came before is no longer in the history. Below is what the user said, word for word, then what you must know of calls, then a summary of what was done. read_result shows the result of a call by its id.]';
const SUMMARY = '[The summary of what was done up to here]';
const NOTICES = '[Calls that may have run, that were aborted or refused]';
const MAX_INPUT_CHARS = 500;

/** The texts of the user message that replaces what was summed up. */
export function headTexts(
  { prompts, notices, summary }: SummedUp,
  promptText: (prompt: UserRecord) => string,
): string[] {
  return [
    NOTE,
    ...prompts.map((prompt) => `[Message ${prompt.turn} of the user]\n${promptText(prompt)}`),
    ...(notices.length === 0 ? [] : [`${NOTICES}\n${notices.map(noticeText).join('\n')}`]),
    `${SUMMARY}\n${summary}`,
  ];
}

function noticeText({ call, tool, input, output }: Notice): string {
  // The model wrote the arguments, and may have copied them from untrusted content.
  const args = takeStart(canonicalJson(input), MAX_INPUT_CHARS);
  const marked = markUntrusted(args, { source: `arguments of ${call}`, tool });
  return `- ${tool} (${call}): ${output}\n${marked}`;
}
