import { z } from 'zod';

/** The answer to a call of a tool, read leniently: one odd part must not cost the others. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
