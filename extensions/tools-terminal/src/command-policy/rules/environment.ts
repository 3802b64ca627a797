import { variableEffect } from '@ethosagent/policy';
import { isUnknown } from '../marked-text.js';
import { hasShort } from '../options.js';
import { ask, type BuiltInRule, type Objection, worst } from './rule.js';

const LOADS = /(^|\s)(-r|--require|--import|--loader|--experimental-loader|--env-file)/;

// Folders in which programs are put that someone installed.
const USUAL_FOLDER =
  /^(?:\uE002\/(?:\.?[\w-]+\/)*(?:s?bin|shims)|\/(?:usr\/|usr\/local\/|opt\/homebrew\/)?s?bin|[\uE000\uE001])$/;
const EDITOR = /^(vim?|nvim|nano|emacs|code|ed|micro|hx|helix|subl)( (-w|--wait|-nw))?$/;

/** Where an interpreter looks for modules. */
const SEARCH_PATH = /^(PYTHONPATH|NODE_PATH)$/;

/** A folder of the project, whose code runs anyway. */
function isBelowHere(folder: string): boolean {
  return !isUnknown(folder) && !/^[/~\uE002]|(?:^|\/)\.\.(?:\/|$)/.test(folder);
}

/** Whether a variable of this name changes which programs run, or names one. */
export function changesWhatRuns(name: string): boolean {
  return variableEffect(name) !== undefined;
}

/** Variables that change which programs run. */
export const environment: BuiltInRule = {
  name: 'environment',
  about: 'Variables that change which programs run, or what they load.',
  judge({ name = '', args, assignments }) {
    const exported = /^(export|declare|typeset|local|readonly|env|sudo)$/.test(name)
      ? args.flatMap((word) => {
          const at = word.indexOf('=');
          return at < 1
            ? []
            : [{ name: word.slice(0, at).replace(/\+$/, ''), value: word.slice(at + 1) }];
        })
      : [];
    return worst([
      ...[...assignments, ...exported].map(judgeVariable),
      setsByName(name, args) ? ask('sets a variable that changes what runs') : undefined,
      /^(declare|typeset|local)$/.test(name) && hasShort(args, 'n')
        ? ask('makes a name mean another')
        : undefined,
    ]);
  },
};

function setsByName(name: string, args: readonly string[]): boolean {
  if (name === 'printf') {
    const at = args.findIndex((word) => /^-v/.test(word));
    return at !== -1 && changesWhatRuns((args[at] ?? '').slice(2) || (args[at + 1] ?? ''));
  }
  return /^(read|mapfile|readarray|getopts)$/.test(name) && args.some(changesWhatRuns);
}

function judgeVariable({ name, value }: { name: string; value: string }): Objection | undefined {
  if (isUnknown(name)) return ask('sets a variable that is known only when it runs');
  if (name === 'PATH') {
    const folders = value.split(':');
    // Before what was there, only where programs are put on purpose.
    const isUsual = folders.length > 1 && folders.every((folder) => USUAL_FOLDER.test(folder));
    return isUsual && isUnknown(folders.at(-1) ?? '')
      ? undefined
      : ask(`sets ${name}, which changes what runs`);
  }
  if (name === 'NODE_OPTIONS')
    return LOADS.test(value) ? ask('makes node load something else') : undefined;
  if (name === 'LESS' && value.includes('!')) return ask('makes less run a command');
  // Shells take it from no environment, and split at these anyway.
  if (name === 'IFS' && /^[\s,:;|]*$/.test(value)) return undefined;
  if (SEARCH_PATH.test(name) && value.split(':').every(isBelowHere)) return undefined;
  const effect = variableEffect(name);
  if (effect === 'changes what runs') return ask(`sets ${name}, which changes what runs`);
  if (effect === undefined || /^(cat|true|:|less|more|)$/.test(value) || EDITOR.test(value))
    return undefined;
  return ask(`sets ${name}, which names a command`);
}
