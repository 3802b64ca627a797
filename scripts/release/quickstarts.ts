import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { ROOT } from './packages.js';

/** A page of `docs/quickstart`, as far as a reader types it. */
export interface Quickstart {
  /** The name of its file. */
  page: string;
  /** What it has installed. */
  packages: string[];
  /** What it has saved as `first.mjs`. */
  program: string;
  /** What it says that the program prints. */
  output: string;
}

/** @throws for a page that a reader could not follow */
export function readQuickstarts(folder = join(ROOT, 'docs', 'quickstart')): Quickstart[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => parseQuickstart(readFileSync(join(folder, file), 'utf8'), file));
}

/** @throws where a block is missing, or a package is imported that the page does not have installed */
export function parseQuickstart(text: string, page: string): Quickstart {
  const [commands, program, output] = ['sh', 'ts', 'text'].map((lang) => firstBlock(text, lang));
  const [, install] = /^npm install (.+)$/m.exec(commands ?? '') ?? [];
  if (install === undefined || program === undefined || output === undefined) {
    throw new Error(
      `${page} lacks a block: "npm install …" in sh, the program in ts, or its output in text`,
    );
  }
  const packages = install.split(/\s+/).filter((word) => !word.startsWith('-'));
  const names = packages.map((each) => each.replace(/(?<=.)@.*$/, ''));
  const imported = [...program.matchAll(/from '([^'.][^']*)'/g)].map(([, from = '']) => from);
  const missing = imported.filter((from) => !isBuiltin(from) && !names.includes(packageOf(from)));
  if (missing.length > 0) throw new Error(`${page} does not install ${missing.join(', ')}`);
  return { page, packages, program, output };
}

function firstBlock(text: string, lang: string): string | undefined {
  return new RegExp(`^\`\`\`${lang}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1];
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
