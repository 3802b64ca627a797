import { type SessionResult, withoutImageBytes } from '@ethosagent/core';
import type { ToolOutputImage, ToolOutputText } from '@openai/agents';

/** The output of a tool for the framework: only text, or text and images. */
export type OpenAiToolOutput = string | (ToolOutputText | ToolOutputImage)[];

/** Returns the text, as the session marked it, and the images. */
export function outputOf({ text, images }: SessionResult): OpenAiToolOutput {
  if (images.length === 0) return text;
  return [
    { type: 'text', text },
    ...images.map(({ mediaType, data }) => ({
      type: 'image' as const,
      image: `data:${mediaType};base64,${data}`,
    })),
  ];
}

/** Returns the `customData` of the result's item, for the program. The model never reads it. */
export function customDataOf({ result, durationMs }: SessionResult): Record<string, unknown> {
  const structured = result.ok ? result.structured : undefined;
  const facts = result.ok
    ? {
        ok: true,
        structured: structured && withoutImageBytes(structured),
        costUsd: result.cost_usd,
        durationMs,
      }
    : { ok: false, code: result.code, cause: result.cause, durationMs };
  try {
    // The framework ends the run for a value that JSON can't express.
    return JSON.parse(JSON.stringify(facts));
  } catch {
    return { ok: result.ok, durationMs };
  }
}
