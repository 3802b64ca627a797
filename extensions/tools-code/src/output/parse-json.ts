import type { z } from 'zod';

/** The value of a JSON text that has the shape of a schema, else `undefined`. Never throws. */
export function parseJson<S extends z.ZodType>(schema: S, text: string): z.output<S> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
