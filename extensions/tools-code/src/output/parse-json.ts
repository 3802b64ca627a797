import { parseJson as parseAny } from '@ethosagent/policy';
import type { z } from 'zod';

/** Parses a JSON text. Returns `undefined` when it is invalid or does not fit the schema. */
export function parseJson<S extends z.ZodType>(schema: S, text: string): z.output<S> | undefined {
  return schema.safeParse(parseAny(text)).data;
}
