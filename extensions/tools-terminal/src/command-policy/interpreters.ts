import { SPLIT, UNKNOWN } from './marked-text.js';

const SHELLS = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'ksh93',
  'mksh',
  'ash',
  'fish',
  'rbash',
  'csh',
  'tcsh',
  'yash',
  'pwsh',
  'powershell',
]);

/** How a language takes code on its command line. */
interface Language {
  names: RegExp;
  /** Short options that take code, and long ones. */
  code: RegExp;
  /** Short options that take another value. */
  valued: string;
  /** Options after which the next operand is data. */
  program?: RegExp;
}

const LANGUAGES: readonly Language[] = [
  { names: /^(python|pypy)[\d.]*$/, code: /^-[a-zA-Z]*c/, valued: 'WXQ', program: /^-[a-zA-Z]*m/ },
  {
    names: /^(node|nodejs|bun|tsx|ts-node)$/,
    code: /^(-e|-p|-pe|-ep|--eval|--print)/,
    valued: 'rC',
  },
  { names: /^deno$/, code: /^$/, valued: '' },
  { names: /^perl[\d.]*$/, code: /^-[a-zA-Z0-9]*[eE]/, valued: 'IMm' },
  { names: /^ruby[\d.]*$/, code: /^-[a-zA-Z]*e/, valued: 'IrC' },
  { names: /^(php[\d.]*)$/, code: /^-[rBRE]/, valued: 'cdz' },
  { names: /^(lua|luajit)[\d.]*$/, code: /^-e/, valued: 'l' },
  {
    names: /^(osascript|Rscript|R|tclsh|expect|groovy|scala|elixir|julia|guile|racket|sbcl|ghc)$/,
    code: /^-e|^-c|^--eval/,
    valued: '',
  },
];

/** Whether a program of this name reads shell text. */
export function isShell(name: string): boolean {
  return SHELLS.has(name);
}

/** The language of an interpreter that is not a shell. */
export function languageOf(name: string): Language | undefined {
  return LANGUAGES.find(({ names }) => names.test(name));
}

/** Where the code comes from that an interpreter runs. */
export interface CodeSource {
  /** Code in its words. */
  code: string[];
  /** It reads its code from its standard input. */
  isStdin: boolean;
}

/** Finds the code of an interpreter. */
export function codeOf(language: Language | 'shell', args: readonly string[]): CodeSource {
  const code: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const next = args[at + 1] ?? SPLIT;
    // What may be options may be code.
    if (word.startsWith(SPLIT) || word === UNKNOWN) return { code: [SPLIT], isStdin: false };
    if (
      word === '-' ||
      word === '/dev/stdin' ||
      word === '/dev/fd/0' ||
      word === '/proc/self/fd/0'
    ) {
      return { code, isStdin: true };
    }
    if (language === 'shell') {
      if (word === '--') continue;
      if (/^[-+]/.test(word)) {
        if (/^-[^-]*c/.test(word) || /^(-Command|-EncodedCommand|--command)$/i.test(word)) {
          // Options may stand between `-c` and the code.
          const rest = args
            .slice(at + 1)
            .filter(
              (other, index, all) =>
                !/^[-+]/.test(other) || all.slice(0, index).some((before) => !/^[-+]/.test(before)),
            );
          return { code: [rest[0] ?? ''], isStdin: false };
        }
        if (/^-[^-]*s/.test(word)) return { code, isStdin: true };
        if (/^(-[oO]|[+][oO]|--rcfile|--init-file)$/.test(word)) at += 1;
        continue;
      }
      return { code, isStdin: false };
    }
    if (word.startsWith('-')) {
      if (language.program?.test(word)) return { code, isStdin: false };
      if (language.code.test(word)) return { code: [next], isStdin: false };
      if (word.length === 2 && language.valued.includes(word.slice(1))) at += 1;
      continue;
    }
    return { code, isStdin: false };
  }
  // `node --version` reads nothing.
  const tells = args.some((word) => /^(--version|-V|-v|--help|-h)$/.test(word));
  return { code, isStdin: !tells || language === 'shell' };
}
