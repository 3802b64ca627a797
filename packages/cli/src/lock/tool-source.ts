import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packageOfTool } from '@ethosagent/wiring';

const CONFIGS = ['ethos.config.mjs', 'ethos.config.js', 'ethos.config.ts'];
const IMPORT = /(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]+)\1/g;
/** The limits for a home, which should import its own tools and not a whole program. */
const MAX_FILES = 200;
const MAX_BYTES = 1_000_000;

/** Where a tool is declared: a file and a line, or its package. */
export interface ToolSource {
  file?: string;
  line?: number;
  package?: string;
}

/**
 * Finds where the tools of a home are declared, from the text of ethos.config and of the files that
 * it imports. A name that stands in two places counts as not found, since a guess could mislead a
 * reviewer.
 */
export function toolSources(home: string): (tool: string) => ToolSource {
  const files = filesOf(home);
  return (tool) => {
    const name = tool.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pattern = new RegExp(`\\bname\\s*:\\s*(['"\`])${name}\\1`);
    const places = files.flatMap(({ file, lines }) =>
      lines.flatMap((text, index) => (pattern.test(text) ? [{ file, line: index + 1 }] : [])),
    );
    const [place] = places;
    if (places.length === 1 && place !== undefined) return place;
    const from = packageOfTool(tool);
    return from === undefined ? {} : { package: from };
  };
}

/** The files of which ethos.config consists, without packages. */
function filesOf(home: string): { file: string; lines: string[] }[] {
  const found = new Map<string, string[]>();
  const open = CONFIGS.map((name) => join(home, name));
  for (let file = open.shift(); file !== undefined; file = open.shift()) {
    if (found.has(file) || found.size === MAX_FILES) continue;
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() !== true || stat.size > MAX_BYTES) continue;
    const text = readFileSync(file, 'utf8');
    found.set(file, text.split('\n'));
    for (const [, , path = ''] of text.matchAll(IMPORT)) open.push(resolve(dirname(file), path));
  }
  return [...found].map(([file, lines]) => ({ file, lines }));
}
