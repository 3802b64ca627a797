import { defineTool, err, ok, withFailures } from '@ethosagent/plugin-sdk';
import { compileClosedSchema } from '@ethosagent/policy';
import type { FailureCause, ToolErrorCode } from '@ethosagent/types';
import { z } from 'zod';
import { DELEGATION_FAILURES } from './failures.js';

const MAX_QUESTION_CHARS = 2_000;
const TIMEOUT_MS = 5 * 60_000;

const HOW =
  'JSON Schema of the answer. It takes enum, const, integer, number, boolean, null, objects with named properties, arrays with maxItems, and strings with the format date or date-time or with a pattern of at most 64 characters of [A-Za-z0-9._-], such as ^[A-Z]{2}-[0-9]{1,8}$. Free text is not taken.';

const REFUSED: ReadonlySet<FailureCause> = new Set<FailureCause>([
  'NOT_APPROVED',
  'TOOL_NOT_FOUND',
  'TOOL_NOT_ALLOWED',
  'TOOL_UNAVAILABLE',
  'DELEGATION_REFUSED',
]);

function codeOf(cause: FailureCause): ToolErrorCode {
  if (cause === 'INPUT_INVALID') return 'input_invalid';
  return REFUSED.has(cause) ? 'not_available' : 'execution_failed';
}

/**
 * Calls a tool and lets a model without tools read its result. The answer is a value of a closed
 * schema, so the session does not count as having read the content. Needs `delegation`.
 */
export const readQuarantinedTool = defineTool({
  name: 'read_quarantined',
  description:
    'Call another of your tools and let a reader without tools answer one question from its result. You get only values of the schema that you give, never the text itself. So no instruction in the text reaches you, and later calls need no approval because of it. Use it for facts: a price, a version, a date, yes or no, one of several.',
  toolset: 'delegation',
  input: z.strictObject({
    tool: z.string().min(1).max(200).describe('The name of the tool, of those that you have.'),
    args: z.record(z.string(), z.unknown()).describe('Its arguments.'),
    question: z.string().trim().min(1).max(MAX_QUESTION_CHARS).describe('What is to be found out.'),
    schema: z.record(z.string(), z.unknown()).describe(HOW),
  }),
  capabilities: { delegation: {} },
  // The inner call goes through the gates itself.
  effects: [],
  // The output is a value of the schema, or text of the framework.
  outputIsUntrusted: false,
  supportsDryRun: true,
  timeoutMs: TIMEOUT_MS,
  execute: (args, ctx) =>
    withFailures(DELEGATION_FAILURES, async () => {
      if (ctx.dryRun) {
        const closed = compileClosedSchema(args.schema);
        if (!closed.ok) return err(closed.problem, 'input_invalid');
        return ok(`[dry-run] the result of ${args.tool} would be read for: ${args.question}`);
      }
      const answer = await ctx.delegation.read(args);
      if (!answer.ok) return err(answer.error, codeOf(answer.cause), answer.cause);
      return ok(JSON.stringify(answer.value), { structured: { value: answer.value } });
    }),
});
