import { isUnknown, SPLIT, UNKNOWN } from './marked-text.js';

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

/** How the interpreter of a language takes code on its command line. */
interface Language {
  names: RegExp;
  /** Short and long options that take code. */
  code: RegExp;
  /** Short options that take a value other than code. */
  valued: string;
  /** Long options whose value is the next word. */
  longValued?: RegExp;
  /** Options whose value is code, or loads code. */
  loads?: RegExp;
  /** Options after which the next operand is data. */
  program?: RegExp;
  /** Matches the interpreters that take code as an operand or from their input. */
  runsCode?: RegExp;
}

const LANGUAGES: readonly Language[] = [
  {
    names: /^(i?python|pypy|micropython|jython)[\d.]*$/,
    code: /^-[a-zA-Z]*c/,
    valued: 'WXQ',
    longValued: /^--check-hash-based-pycs$/,
    program: /^-[a-zA-Z]*m/,
    runsCode: /^(timeit|code|asyncio|pdb|cProfile|profile|trace|IPython|doctest)$/,
  },
  {
    names: /^(node|nodejs|bun|tsx|ts-node)$/,
    code: /^(-e|-p|-pe|-ep|--eval|--print)/,
    valued: 'rC',
    longValued:
      /^--(require|import|loader|title|conditions|env-file|stack-size|input-type|test-name-pattern)$/,
    loads: /^--(import|loader|experimental-loader)=data:/,
  },
  { names: /^deno$/, code: /^$/, valued: '' },
  { names: /^perl[\d.]*$/, code: /^-[a-zA-Z0-9]*[eE]/, valued: 'I', loads: /^-[mM].*[;(=]|^-d:/ },
  { names: /^ruby[\d.]*$/, code: /^-[a-zA-Z]*e/, valued: 'IrC' },
  { names: /^(php[\d.]*)$/, code: /^-[rBRE]/, valued: 'cdz' },
  { names: /^(lua|luajit)[\d.]*$/, code: /^-e/, valued: 'l' },
  {
    names: /^(osascript|Rscript|R|tclsh|expect|groovy|scala|elixir|julia|guile|racket|sbcl|ghc)$/,
    code: /^-e|^-c|^--eval/,
    valued: '',
  },
];

/** Whether a program with this name reads shell text. */
export function isShell(name: string): boolean {
  return SHELLS.has(name);
}

/** Returns the language of an interpreter that is not a shell. */
export function languageOf(name: string): Language | undefined {
  return LANGUAGES.find(({ names }) => names.test(name));
}

/** The sources of an interpreter's code. */
export interface CodeSource {
  /** The code in its words. */
  code: string[];
  /** Whether it reads code from its standard input. */
  isStdin: boolean;
}

/** Finds the code of an interpreter. */
export function codeOf(language: Language | 'shell', args: readonly string[]): CodeSource {
  return language === 'shell' ? codeOfShell(args) : codeOfLanguage(language, args);
}

function isInput(word: string): boolean {
  return /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/(self|thread-self)\/fd\/0)$/.test(word);
}

/** Whether a path stands for an open descriptor, whose content is unknown. */
export function isDescriptor(word: string): boolean {
  return /^\/(dev\/(stdin|fd\/)|proc\/[^/]+\/(task\/[^/]+\/)?fd\/)/.test(word);
}

function codeOfShell(args: readonly string[]): CodeSource {
  const code: string[] = [];
  let isCommand = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const next = args[at + 1] ?? SPLIT;
    // A word that may be an option may be code.
    if (word.startsWith(SPLIT) || word === UNKNOWN)
      return { code: [...code, SPLIT], isStdin: false };
    if (word === '--' || word === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]/.test(word)) break;
    const joined = /^--(?:init-)?command=(.*)$/s.exec(word)?.[1];
    if (joined !== undefined) code.push(joined);
    else if (/^(--init-command|-C)$/.test(word)) {
      // For fish. In other shells, this option takes no value.
      if (/\s/.test(next)) code.push(next);
    } else if (/^(-Command|-EncodedCommand|--command)$/i.test(word)) isCommand = true;
    else if (/^--(rcfile|init-file)$/.test(word)) {
      if (isUnknown(next) || isDescriptor(next)) code.push(SPLIT);
      at += 1;
    } else if (!word.startsWith('--')) {
      if (/^-[^-]*c/.test(word)) isCommand = true;
      if (/^-[^-]*s/.test(word) && !isCommand) return { code, isStdin: true };
      // Each of these letters takes a word, at any place in the group.
      at += word.replaceAll(/[^oO]/g, '').length;
    }
  }
  const operand = args[at];
  if (operand === undefined) return { code, isStdin: code.length === 0 || !isCommand };
  if (isCommand || operand.startsWith(SPLIT) || operand === UNKNOWN) {
    return { code: [...code, operand], isStdin: false };
  }
  if (isInput(operand)) return { code, isStdin: true };
  return { code: isDescriptor(operand) ? [...code, SPLIT] : code, isStdin: false };
}

function codeOfLanguage(language: Language, args: readonly string[]): CodeSource {
  let isKnown = true;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const next = args[at + 1] ?? SPLIT;
    if (word.startsWith(SPLIT) || word === UNKNOWN) return { code: [SPLIT], isStdin: false };
    if (isInput(word)) return { code: [], isStdin: true };
    if (isDescriptor(word)) return { code: [SPLIT], isStdin: false };
    if (word.startsWith('-') && word !== '--') {
      if (language.program?.test(word)) {
        const program = word.slice(word.indexOf('m') + 1) || next;
        return language.runsCode?.test(program)
          ? { code: [next], isStdin: false }
          : { code: [], isStdin: false };
      }
      if (language.code.test(word)) return { code: [next], isStdin: false };
      if (language.loads?.test(word)) return { code: [word], isStdin: false };
      if (word.length === 2 && language.valued.includes(word.slice(1))) at += 1;
      else if (language.longValued?.test(word)) {
        if (/^(data|https?):/.test(next)) return { code: [next], isStdin: false };
        at += 1;
      } else if (word.startsWith('--') && !word.includes('=')) isKnown = false;
      continue;
    }
    // This word may be the value of an unknown option, and the code may come after it.
    const rest = isKnown ? [] : args.slice(at + 1);
    const code = rest.filter((_, index) => language.code.test(rest[index - 1] ?? ''));
    return { code, isStdin: false };
  }
  // `node --version` reads nothing.
  const tells = args.some((word) => /^(--version|-V|-v|--help|-h)$/.test(word));
  return { code: [], isStdin: !tells };
}
