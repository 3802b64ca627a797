import { ask, type BuiltInRule, type Objection, worst } from './rule.js';

const CHANGES_WHAT_RUNS =
  /^(PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS4|PROMPT_COMMAND|GLIBC_TUNABLES|GCONV_PATH|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5LIB|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_EXEC_PATH|GIT_CONFIG.*|GIT_TEMPLATE_DIR|BASH_LOADABLES_PATH|HISTFILE)$/;
const RUNS_COMMAND =
  /^(GIT_SSH|GIT_SSH_COMMAND|GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_PAGER|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|CVS_RSH|SHELL)$/;
const LOADS = /(^|\s)(-r|--require|--import|--loader|--experimental-loader|--env-file)/;

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
    return worst([...assignments, ...exported].map(judgeVariable));
  },
};

function judgeVariable({ name, value }: { name: string; value: string }): Objection | undefined {
  if (CHANGES_WHAT_RUNS.test(name)) return ask(`sets ${name}, which changes what runs`);
  if (name === 'NODE_OPTIONS' && LOADS.test(value)) return ask('makes node load something else');
  if (RUNS_COMMAND.test(name) && !/^(cat|true|:|less|more|)$/.test(value))
    return ask(`sets ${name}, which names a command`);
  return undefined;
}
