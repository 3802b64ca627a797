import { UNFINISHED } from './inspect/format.js';
import { safeLine } from './output.js';
import type { BegunCall } from './waiting-calls.js';

/** What is known of a call that has begun and whose end is not recorded, and what to do next. */
export function unfinishedText({ sessionId, approval, begunAt }: BegunCall): string {
  const { toolName, toolCallId } = approval;
  const [name, id, session] = [toolName, toolCallId, sessionId].map((text) => safeLine(text));
  return `${name} ${id} of the session ${session} began at ${new Date(begunAt).toISOString()}, and its end is not recorded. ${UNFINISHED} "ethosagent audit show ${id}" shows what it reached, if anything; "ethosagent approvals withdraw ${id} --session ${session}" removes it from the list.`;
}
