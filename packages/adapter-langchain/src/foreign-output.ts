import type { ResultImage } from '@ethosagent/core';
import { isObject } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { isBaseMessage, ToolMessage } from '@langchain/core/messages';
import { isCommand } from '@langchain/langgraph';

/**
 * Converts the output of a framework's tool: a message, a text, blocks of content, or a value as
 * JSON.
 */
export function resultOf(output: unknown): ToolResult {
  if (isCommand(output)) {
    return failed('the tool gave a Command for its graph, and it does not run in one here');
  }
  if (!ToolMessage.isInstance(output)) {
    return isBaseMessage(output) ? success(output.content, undefined) : success(output, undefined);
  }
  const { content, artifact, status } = output;
  const result = success(content, artifact);
  return status === 'error' && result.ok ? failed(result.value) : result;
}

function success(content: unknown, artifact: unknown): ToolResult {
  const blocks = blocksOf(content);
  const images = blocks?.flatMap(imageOf) ?? [];
  const value = blocks === undefined ? jsonText(content) : blocks.map(textOf).join('\n');
  if (value === undefined) return failed('the tool gave what is no data');
  const kept = artifact === undefined ? undefined : jsonText(artifact);
  return {
    ok: true,
    value,
    structured: {
      ...(images.length > 0 && { images }),
      ...(kept !== undefined && { artifact: JSON.parse(kept) }),
    },
  };
}

function failed(error: string): ToolResult {
  return { ok: false, code: 'execution_failed', error };
}

type Block = Record<string, unknown> & { type: string };

function blocksOf(content: unknown): Block[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const isBlocks = Array.isArray(content) && content.length > 0 && content.every(isBlock);
  return isBlocks ? content : undefined;
}

function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value.type === 'string';
}

function textOf(block: Block): string {
  if (typeof block.text === 'string') return block.text;
  const [image] = imageOf(block);
  return image === undefined ? `[${block.type} left out]` : `[image, ${image.mediaType}]`;
}

/** Returns an image whose bytes are in the result, in any form that the framework uses. */
function imageOf(block: Block): ResultImage[] {
  if (block.type === 'image_url') {
    const { image_url: image } = block;
    return dataUrl(isObject(image) ? image.url : image);
  }
  if (block.type !== 'image') return [];
  const mediaType = block.mimeType ?? block.mime_type;
  const data = block.data instanceof Uint8Array ? base64(block.data) : block.data;
  if (typeof data !== 'string') return dataUrl(block.url);
  return typeof mediaType === 'string' ? [{ mediaType, data }] : [];
}

function dataUrl(url: unknown): ResultImage[] {
  if (typeof url !== 'string') return [];
  const [, mediaType, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? [] : [{ mediaType, data }];
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value ?? null);
  } catch {
    return undefined;
  }
}
