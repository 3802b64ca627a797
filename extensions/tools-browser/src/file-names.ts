import { posix } from 'node:path';
import { withoutHidden } from '@ethosagent/policy';

/** How many bytes a name gets. File systems allow 255; the rest is for a number. */
const MAX_BYTES = 200;

/** Turns the name that a page gave to a file into one that is safe in a folder. */
export function cleanFileName(suggested: string): string {
  const last = suggested.slice(-1_000).split(/[/\\]/).at(-1) ?? '';
  const clean = withoutHidden(last.normalize('NFC'))
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[\s.]+|[\s.]+$/g, '');
  if (clean === '') return 'download';
  const extension = cut(posix.extname(clean).slice(0, 20), 60);
  const stem = clean.slice(0, clean.length - posix.extname(clean).length);
  return `${cut(stem, MAX_BYTES - Buffer.byteLength(extension))}${extension}`;
}

/** Adds a number to a name, for a name that is already used. */
export function numberedName(name: string, number: number): string {
  if (number < 2) return name;
  const extension = posix.extname(name);
  return `${name.slice(0, name.length - extension.length)} (${number})${extension}`;
}

function cut(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const char of text) {
    bytes += Buffer.byteLength(char);
    if (bytes > maxBytes) break;
    end += char.length;
  }
  return text.slice(0, end);
}
