import { isHarmlessCode } from '../harmless-code.js';
import { codeOf, isDescriptor, isShell, languageOf } from '../interpreters.js';
import { isUnknown } from '../marked-text.js';
import { ask, type BuiltInRule, deny } from './rule.js';

/** The rule about running code from the network. */
export const fetchAndRun: BuiltInRule = {
  name: 'fetch-and-run',
  about: 'Running what was just fetched from the network, unseen.',
  judge({ name = '', args, input, embedsFetch }) {
    const language = isShell(name) ? 'shell' : languageOf(name);
    if (language === undefined) {
      const runs = /^(eval|source|\.|trap|alias)$/.test(name);
      if (runs && embedsFetch) return deny('runs what is fetched from the network, unseen');
      return /^(source|\.)$/.test(name) && input.from === 'fetch' && readsStdin(args)
        ? deny('runs what is fetched from the network, unseen')
        : undefined;
    }
    const { code, isStdin } = codeOf(language, args);
    // A program of this machine may read data from the network.
    const fetchesCode = embedsFetch && (code.length > 0 || args.some(isUnknown));
    return (isStdin && input.from === 'fetch') ||
      (fetchesCode && (language === 'shell' || code.some(isUnknown)))
      ? deny('runs what is fetched from the network, unseen')
      : undefined;
  },
};

function readsStdin(args: readonly string[]): boolean {
  return args.some((word) => /^(-|\/dev\/(stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/.test(word));
}

/** The rule about code of a language that this policy can't judge. */
export const unreadCode: BuiltInRule = {
  name: 'unread-code',
  about: 'Code in another language on the command line, or shell text from a pipe.',
  judge({ name = '', args, input }) {
    if (/^(source|\.)$/.test(name)) {
      return readsStdin(args) || args.some((word) => isUnknown(word)) || args.length === 0
        ? ask('runs a script that is known only when it runs')
        : undefined;
    }
    if (isShell(name)) {
      const { isStdin } = codeOf('shell', args);
      return isStdin && input.from === 'pipe' ? ask('runs shell text from a pipe') : undefined;
    }
    if (runsOtherwise(name, args)) {
      return ask('runs code that stands on the command line');
    }
    if (/^g?make$/.test(name)) {
      const isOpen = args.some(
        (word) =>
          /^(SHELL=|--eval|-[a-zA-Z]*E)/.test(word) ||
          /^[^-].*=.*\$[({`]/.test(word) ||
          /\$\(shell/.test(word),
      );
      return isOpen || readsOpenFile(args, /^(-[a-zA-Z]*f|--file|--makefile)$/)
        ? ask('runs what stands on the command line')
        : undefined;
    }
    const language = languageOf(name);
    if (language !== undefined) {
      const { code, isStdin } = codeOf(language, args);
      if (code.length > 0) {
        return isHarmlessCode(name, args)
          ? undefined
          : ask('runs code that stands on the command line');
      }
      return isStdin && (input.from === 'pipe' || input.from === 'text')
        ? ask('runs code from its standard input')
        : undefined;
    }
    if (/^(g|m|n)?awk$/.test(name)) {
      return args.some(runsFromAwk) || readsOpenFile(args, /^(-f|--file|-E|--exec)$/)
        ? ask('runs commands from awk')
        : undefined;
    }
    if (/^g?sed$/.test(name)) {
      const isOpen = readsOpenFile(args, /^(-[a-zA-Z]*f|--file)$/);
      const isScript = args.some((word) => runsFromSed(word.replace(/^(-e|--expression=)/, '')));
      return isScript || isOpen ? ask('runs commands from sed') : undefined;
    }
    if (/^(n?vim?|vi|ex|ed|emacs|view)$/.test(name)) {
      return args.some((word) => /!|system\(|shell|--eval|^--?(c|cmd|S|s)$/.test(word)) ||
        input.from !== 'nothing'
        ? ask('runs commands from an editor')
        : undefined;
    }
    return undefined;
  },
};

/** Matches filters that are known to run nothing, as in `print | "sort"`. */
const FILTERS = /\|&?\s*"(sort|uniq|head|tail|wc|cat|column|tr|cut|nl|rev|tac)( [\w ,.:=-]*)?"/g;

function runsFromAwk(program: string): boolean {
  const rest = program.replaceAll(FILTERS, '');
  // A `|` in a pattern or in a string is not a pipe.
  const bare = rest.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/(?:[^/\\\n]|\\.)*\//g, (part) =>
    part.startsWith('"') ? '""' : '//',
  );
  return (
    /\bsystem\s*\(|\|\s*("|getline|&)|@\w+\s*\(/.test(rest) ||
    /"\s*\|([^|]|$)|[^|]\|\s*[(\w"]/.test(bare)
  );
}

/** Whether a sed script has a command `e`, or a substitution with the flag `e`. */
function runsFromSed(script: string): boolean {
  if (/^[\w./-]+$/.test(script) && !/^(\d*|\/.*\/)s[^\w\s]|^\d+e/.test(script)) return false;
  return (
    /(^|[;{}\n\d$/!])[ \t]*e([ \t]|$|[;}\n])/.test(script) ||
    // Without a separator, the command `e` can only follow an address.
    /(^|[;{}\n!])[ \t]*(\d+[ \t]*|\$)(,(\d+|\$))?!?[ \t]*e/.test(script) ||
    /(^|[;{\n]|\/[ \t]*\{)[ \t]*e[a-z./]/.test(script) ||
    /^\/[^/]*\/[ \t]*!?[ \t]*e/.test(script) ||
    /[^\w\s][gpiIM\d]*e[gpiIMw\d]*[ \t]*([;}\n]|$)/.test(script)
  );
}

/** Whether the value of an option such as `-f` is known only at run time. */
function readsOpenFile(args: readonly string[], option: RegExp): boolean {
  return args.some((word, at) => {
    const value = option.test(args[at - 1] ?? '') ? word : /^(?:-f|--file=)(.+)$/.exec(word)?.[1];
    return value !== undefined && (value === '-' || isUnknown(value) || isDescriptor(value));
  });
}

/** Whether another program has an option whose value it runs. */
function runsOtherwise(name: string, args: readonly string[]): boolean {
  switch (name) {
    case 'deno':
      return (
        args[0] === 'eval' ||
        (args[0] === 'run' && args.some((word) => word === '-' || /^https?:/.test(word))) ||
        args[0] === 'repl'
      );
    case 'bun':
      return args[0] === 'eval';
    case 'uv':
      return args[0] === 'run' && args.includes('-');
    case 'gdb':
    case 'lldb':
      return args.some((word) => /^--?(ex|eval-command|x|command|iex|o|source)/.test(word));
    case 'sqlite3':
    case 'psql':
    case 'mysql':
      return args.some((word) =>
        /(^|[\n;])\s*(\.(shell|system|sh|read)|\\!|system\s|\\o \|)/.test(word),
      );
    case 'rg':
      return args.some((word) => /^--(pre|hostname-bin)(=|$)/.test(word));
    case 'go':
      return args.some((word) => /^--?(exec|toolexec)(=|$)/.test(word));
    case 'bat':
    case 'man':
      return args.some(
        (word) => /^(-P.?|--pager)/.test(word) && word !== '--pager=never' && word !== '-P',
      );
    case 'less':
    case 'more':
      return args.some((word) => /^\+.*!/.test(word));
    case 'gawk':
      return args.some((word) => /^(-l|--load)/.test(word));
    case 'erl':
      return args.some((word) => /^-eval$/.test(word));
    default:
      return false;
  }
}
