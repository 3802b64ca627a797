import { variableEffect } from '@ethosagent/policy';
import { isMarked, isUnknown, SEARCH_PATH } from '../marked-text.js';
import type { CommandAssignment } from '../simple-command.js';
import { INTEGER_VARIABLE } from '../value-flow.js';
import { ask, type BuiltInRule, type Objection, worst } from './rule.js';

const LOADS = /(^|\s)(-r|--require|--import|--loader|--experimental-loader|--env-file)/;

// Folders with installed programs.
const USUAL_FOLDER =
  /^(?:\uE002\/(?:\.?[\w-]+\/)*(?:s?bin|shims)|\/(?:usr\/|usr\/local\/|opt\/homebrew\/)?s?bin)$/;
const EDITOR = /^(vim?|nvim|nano|emacs|code|ed|micro|hx|helix|subl)( (-w|--wait|-nw))?$/;

/** Matches variables that name a program of a build, or the beginning of its name. */
const OF_BUILDS = /^(CC|CXX|CPP|FC|LD|AR|AS|NM|RANLIB|LEX|YACC|M4|PKG_CONFIG|CROSS_COMPILE)$/;
/** Matches the programs of builds that people choose, with plain options. */
const BUILDER =
  /^(?:ccache )?(?:[\w.-]+-)?(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|gfortran|ld|lld|mold|gold|as|ar|ranlib|nm|bison|byacc|flex|m4|pkg-config|pkgconf)(?:-[\d.]+)?(?: -[mOg][\w=]*)*$|^[\w.-]+-$/;
/** Matches options of a compiler that load code, or name a program that it runs. */
const LOADS_INTO_COMPILER =
  /(^|\s|,)(-f?plugin|-fpass-plugin|-B(?!static|dynamic|symbolic|group)|-wrapper|--?specs|-load|-Xclang)|(^|\s)@|(^|\s)-fuse-ld=[^\s/]*\/|-plugin|-dynamic-linker/;
/** Matches a call of a function of make that runs something. Make expands each variable that it gets. */
const RUN_BY_MAKE = /\$[({]\s*(shell|eval|file|guile)\b/;

/** Matches variables that say where an interpreter looks for modules. */
const MODULE_PATH = /^(PYTHONPATH|NODE_PATH)$/;

/** Whether a folder is in the project, whose code may run anyway. */
function isBelowHere(folder: string): boolean {
  return !isUnknown(folder) && !/^[/~\uE002]|(?:^|\/)\.\.(?:\/|$)/.test(folder);
}

/** The rule about variables that change which programs run. */
export const environment: BuiltInRule = {
  name: 'environment',
  about: 'Variables that change which programs run, or what they load.',
  judge: ({ assignments }) => worst(assignments.map(judgeVariable)),
};

function judgeVariable(assignment: CommandAssignment): Objection | undefined {
  const { name, value, appends } = assignment;
  if (assignment.isReference === true) return ask('makes a name mean another');
  if (isMarked(name)) return ask('sets a variable that is known only when it runs');
  if (assignment.isRemoved === true || assignment.isKept === true) return undefined;
  if (RUN_BY_MAKE.test(value)) return ask('sets a variable to what make would run');
  if (/FLAGS$/.test(name) && LOADS_INTO_COMPILER.test(value)) {
    return ask(`sets ${name}, which makes a compiler load or run something else`);
  }
  // Bash evaluates the values of these variables.
  if (INTEGER_VARIABLE.test(name) && !isUnknown(value) && !/^\s*\d*\s*$/.test(value)) {
    return ask(`sets ${name} to what is no number`);
  }
  if (name === 'PATH') {
    return keepsPrograms(appends === true ? `${SEARCH_PATH}${value}` : value)
      ? undefined
      : ask('sets PATH, which changes what runs');
  }
  if (name === 'NODE_OPTIONS' && !isUnknown(value))
    return LOADS.test(value) ? ask('makes node load something else') : undefined;
  if (name === 'LESS' && value.includes('!')) return ask('makes less run a command');
  // A shell ignores `IFS` of its environment, and these are its default separators.
  if (name === 'IFS' && /^[\s,:;|]*$/.test(value)) return undefined;
  if (MODULE_PATH.test(name) && value.split(':').every(isBelowHere)) return undefined;
  const effect = variableEffect(name);
  if (effect === 'changes what runs') return ask(`sets ${name}, which changes what runs`);
  if (effect === undefined || /^(cat|true|:|less|more|)$/.test(value) || EDITOR.test(value))
    return undefined;
  if (OF_BUILDS.test(name) && isBuilder(value)) return undefined;
  return ask(`sets ${name}, which names a command`);
}

/** Whether a value is a usual compiler or the like, which is found where programs usually are. */
function isBuilder(value: string): boolean {
  const [, folder, program = ''] = /^(?:(\S*)\/)?([^/]*)$/s.exec(value) ?? [];
  return BUILDER.test(program) && (folder === undefined || USUAL_FOLDER.test(folder));
}

/**
 * Whether a new `PATH` still finds the same programs. That is so when new folders are absolute and
 * come after the old ones, or when a new folder is one in which people put programs on purpose.
 */
function keepsPrograms(value: string): boolean {
  const folders = value.split(':');
  const at = folders.indexOf(SEARCH_PATH);
  return (
    at !== -1 &&
    folders.slice(0, at).every((folder) => USUAL_FOLDER.test(folder)) &&
    folders.slice(at + 1).every((folder) => /^(?:\/|\uE002\/)[^\uE000-\uE004]+$/.test(folder))
  );
}
