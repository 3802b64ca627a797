import { z } from 'zod';

/**
 * The answer to a call of a tool. It is read leniently, so that one invalid part does not cost the
 * others.
 */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
