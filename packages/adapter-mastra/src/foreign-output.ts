import type { ResultImage } from '@ethosagent/core';
import type { ToolResult } from '@ethosagent/types';

type ToModelOutput = ((output: unknown) => unknown) | undefined;

/**
 * Converts the output of a Mastra tool. The model reads what `toModelOutput` returns, or JSON if
 * the tool has no `toModelOutput`.
 * @throws an error if the output is not data
 */
export async function foreignResult(
  output: unknown,
  toModelOutput: ToModelOutput,
): Promise<ToolResult> {
  const structured: Record<string, unknown> = {};
  if (typeof output === 'object' && output !== null) {
    structured.output = JSON.parse(jsonText(output));
  }
  const mapped = output == null ? undefined : await toModelOutput?.(output);
  if (mapped == null) return { ok: true, value: textOrJson(output), structured };
  const { type, value, reason }: Partial<Record<string, unknown>> = Object(mapped);
  if (type === 'content' && Array.isArray(value)) {
    const images = value.flatMap(imageOf);
    if (images.length > 0) structured.images = images;
    return { ok: true, value: value.flatMap(textOf).join('\n'), structured };
  }
  if (type === 'error-text' || type === 'error-json' || type === 'execution-denied') {
    const error = textOrJson(value ?? reason ?? 'the tool refused the call');
    return { ok: false, code: 'execution_failed', error };
  }
  const isWrapped = type === 'text' || type === 'json';
  return { ok: true, value: textOrJson(isWrapped ? value : mapped), structured };
}

function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value);
}

/**
 * Writes a value as JSON.
 * @throws an error if the value is not data
 */
function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

function textOf(part: unknown): string[] {
  const { type, text }: Partial<Record<string, unknown>> = Object(part);
  if (typeof text === 'string') return [text];
  return imageOf(part).length > 0 ? [] : [`[${String(type)} left out]`];
}

function imageOf(part: unknown): ResultImage[] {
  const { mediaType, data }: Partial<Record<string, unknown>> = Object(part);
  if (typeof mediaType !== 'string' || !mediaType.startsWith('image/')) return [];
  if (typeof data !== 'string') return [];
  // Mastra's own parts may contain a data URL as text.
  return [{ mediaType, data: data.replace(/^data:[^,]*,/, '') }];
}
