import { codeOf, isShell, languageOf } from '../interpreters.js';
import { isUnknown } from '../marked-text.js';
import { ask, type BuiltInRule, deny } from './rule.js';

/** Code from the network. */
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
    // Data for a program that is there may well come from the network.
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

/** Code that this policy can't read. */
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
    if (/^(deno|bun)$/.test(name) && args[0] === 'eval') {
      return ask('runs code that stands on the command line');
    }
    if (/^g?make$/.test(name)) {
      const isOpen = args.some(
        (word, at) => /^(SHELL=|--eval|-f-$)/.test(word) || (word === '-' && args[at - 1] === '-f'),
      );
      return isOpen ? ask('runs what stands on the command line') : undefined;
    }
    const language = languageOf(name);
    if (language !== undefined) {
      const { code, isStdin } = codeOf(language, args);
      if (code.length > 0) return ask('runs code that stands on the command line');
      return isStdin && (input.from === 'pipe' || input.from === 'text')
        ? ask('runs code from its standard input')
        : undefined;
    }
    if (/^(g|m|n)?awk$/.test(name)) {
      return args.some((word) => /\bsystem\s*\(|\|\s*("|getline|&)|"\s*\|/.test(word))
        ? ask('runs commands from awk')
        : undefined;
    }
    if (/^g?sed$/.test(name)) {
      return args.some(runsFromSed) ? ask('runs commands from sed') : undefined;
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

/** A command `e`, or a substitution with the flag `e`. */
function runsFromSed(script: string): boolean {
  if (/^[\w./-]+$/.test(script) && !/^(\d*|\/.*\/)s[^\w\s]/.test(script)) return false;
  return (
    /(^|[;{}\n\d$/])[ \t]*e([ \t]|$)/.test(script) ||
    /[^\w\s][gpiIM\d]*e[gpiIMw\d]*[ \t]*([;}\n]|$)/.test(script)
  );
}
