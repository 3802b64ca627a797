import { z } from 'zod';

const MAX_PROMPT_CHARS = 50_000;
const MAX_TOOLS = 200;
const MAX_STEPS = 200;

const text = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .refine((value) => value.isWellFormed(), 'holds half a surrogate pair');

/** The arguments of `task` and `task_start`. */
export const taskInput = z.strictObject({
  prompt: text(MAX_PROMPT_CHARS)
    .refine((value) => value.trim() !== '', 'is empty; say what is to be done')
    .describe(
      'What to do. The sub-agent sees nothing of this conversation: name files, facts and constraints, and say what its answer should hold.',
    ),
  personality: text(100)
    .regex(/^[^/\s]+$/, 'is not the name of a personality')
    .optional()
    .describe(
      'Another personality for the sub-agent. It may then do only what both personalities may do. Yours when absent.',
    ),
  tools: z
    .array(text(200).min(1))
    .max(MAX_TOOLS)
    .optional()
    .describe('Names of tools that you have. All of yours when absent; none for [].'),
  max_steps: z
    .int()
    .min(1)
    .max(MAX_STEPS)
    .optional()
    .describe('Model calls that the sub-agent may make at most. Your own limit when absent.'),
});

export type TaskInput = z.infer<typeof taskInput>;

export const taskId = text(100).min(1).describe('The id that task_start answered.');
