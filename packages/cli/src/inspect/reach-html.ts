import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ReachMatrix } from './inspect-api.js';
import { PAGE_FOLDER } from './page-files.js';

/**
 * The matrix as a single file, which loads nothing. Its content security policy allows only its own
 * script and style, by their hashes. A name that contains markup stays text.
 */
export async function reachHtml(matrix: ReachMatrix): Promise<string> {
  const read = (name: string) => readFile(new URL(name, PAGE_FOLDER), 'utf8');
  const script = (await read('reach.js')).trim();
  const style = (await read('style.css')).trim();
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  // It must contain neither the end of an element nor a comment.
  const data = JSON.stringify(matrix).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reach</title>
<style>${style}</style>
</head>
<body>
<main><noscript>This page needs JavaScript. "ethosagent reach" shows the same as text.</noscript></main>
<script type="application/json" id="matrix">${data}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
