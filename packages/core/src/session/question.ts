import { createHash } from 'node:crypto';
import { canonicalJson } from '@ethosagent/policy';
import type { AnyTool } from '@ethosagent/types';
import type { ApprovalRequest } from '../approval.js';

/**
 * A digest of everything that is asked: the call with its reach, the reason, and the tool itself.
 * So an approval of one tool does not run another tool with the same name.
 */
export function questionOf(request: ApprovalRequest, tool: AnyTool | undefined): string {
  const { toolCallId: _, sessionId: __, signal: ___, ...asked } = request;
  return digest([asked, factsOf(tool)]);
}

/**
 * A digest of a tool, as the model and the operator know it.
 *
 * @param tool `undefined` if there is no tool of that name
 * @returns a hash that changes when the tool's description, schema, capabilities or effects do
 */
export function toolDigest(tool: AnyTool | undefined): string {
  return digest(factsOf(tool));
}

function factsOf(tool: AnyTool | undefined): unknown {
  return tool && [tool.description, tool.schema, tool.capabilities, tool.effects];
}

function digest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

/** Whether two questions ask for the same, no matter when. */
export function isSameQuestion(a: string | undefined, b: string): boolean {
  return a !== undefined && withoutAsking(a) === withoutAsking(b);
}

function withoutAsking(question: string): string {
  const [asks = ''] = question.split('.');
  return asks;
}
