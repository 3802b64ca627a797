import type { z } from 'zod';

/** Parses a JSON text. Returns `undefined` when it is invalid or does not fit the schema. */
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
