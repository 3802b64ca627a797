import { isUnknown } from '../marked-text.js';
import { hasShort } from '../options.js';
import { ask, type BuiltInRule, type Objection, worst } from './rule.js';

const CHANGES_WHAT_RUNS =
  /^(PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS4|PROMPT_COMMAND|GLIBC_TUNABLES|GCONV_PATH|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5LIB|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_EXEC_PATH|GIT_CONFIG.*|GIT_TEMPLATE_DIR|BASH_LOADABLES_PATH|BASH_CMDS|BASH_ALIASES|PS0|PERL5DB|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|GIT_ALLOW_PROTOCOL|EXINIT|VIMINIT|TAR_OPTIONS|RUSTC_WRAPPER|RUSTC|PYTHONBREAKPOINT|npm_config_(script_shell|node_options)|GOFLAGS|HISTFILE)$/;
const RUNS_COMMAND =
  /^(GIT_SSH|GIT_SSH_COMMAND|GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_PAGER|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|CVS_RSH|SHELL)$/;
const LOADS = /(^|\s)(-r|--require|--import|--loader|--experimental-loader|--env-file)/;

// Folders in which programs are put that someone installed.
const USUAL_FOLDER =
  /^(?:\uE002\/(?:\.?[\w-]+\/)*(?:s?bin|shims)|\/(?:usr\/|usr\/local\/|opt\/homebrew\/)?s?bin|[\uE000\uE001])$/;
const EDITOR = /^(vim?|nvim|nano|emacs|code|ed|micro|hx|helix|subl)( (-w|--wait|-nw))?$/;

/** Whether a variable of this name changes which programs run, or names one. */
export function changesWhatRuns(name: string): boolean {
  return CHANGES_WHAT_RUNS.test(name) || RUNS_COMMAND.test(name);
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
  if (CHANGES_WHAT_RUNS.test(name)) return ask(`sets ${name}, which changes what runs`);
  if (name === 'NODE_OPTIONS' && LOADS.test(value)) return ask('makes node load something else');
  if (name === 'LESS' && value.includes('!')) return ask('makes less run a command');
  if (RUNS_COMMAND.test(name) && !/^(cat|true|:|less|more|)$/.test(value) && !EDITOR.test(value))
    return ask(`sets ${name}, which names a command`);
  return undefined;
}
