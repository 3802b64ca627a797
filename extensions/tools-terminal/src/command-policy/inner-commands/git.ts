import { isUnknown, SPLIT } from '../marked-text.js';
import { valuesOf } from '../options.js';
import { GIT_RUNS, gitSettings, gitSubcommand } from '../rules/git.js';
import { type InnerCommand, text } from './inner-command.js';

/** What git runs: hooks, helpers, aliases, and the commands of `rebase`, `bisect` and others. */
export function ofGit(args: readonly string[]): InnerCommand[] {
  const found: InnerCommand[] = [
    ...valuesOf(args, ['--upload-pack', '--receive-pack']).map(text),
    // An address of this kind is a command.
    ...args.filter((word) => word.startsWith('ext::')).map((word) => text(word.slice(5))),
  ];
  const [subcommand = '', ...own] = gitSubcommand(args);
  if (subcommand === 'clone') found.push(...valuesOf(own, ['-u']).map(text));
  if (/^(archive|push|send-pack|fetch-pack)$/.test(subcommand)) {
    found.push(...valuesOf(own, ['--exec']).map(text));
  }
  if (subcommand === 'grep') {
    found.push(
      ...valuesOf(own, ['-O'])
        .concat(own.flatMap((word) => /^--open[a-z-]*=(.*)$/s.exec(word)?.[1] ?? []))
        .map(text),
    );
  }
  for (const [key, value] of gitSettings(args)) {
    if (!GIT_RUNS.test(key)) continue;
    // `!` begins a command line; without it, an alias is a git command.
    if (value.startsWith('!')) found.push(text(value.slice(1)));
    else if (/^alias\./i.test(key)) found.push(text(`git ${value}`));
    else if (/hookspath/i.test(key)) found.push(text(isUnknown(value) ? SPLIT : ':'));
    else if (!/^(true|false|\d+|)$/i.test(value)) found.push(text(value));
  }
  const at = args.findIndex((word) =>
    /^(rebase|submodule|bisect|filter-branch|difftool)$/.test(word),
  );
  if (at === -1) return found;
  const rest = args.slice(at + 1);
  if (args[at] === 'rebase') found.push(...valuesOf(rest, ['-x', '--exec']).map(text));
  else if (args[at] === 'difftool') found.push(...valuesOf(rest, ['-x', '--extcmd']).map(text));
  else if (args[at] === 'submodule') {
    const each = rest.indexOf('foreach');
    if (each !== -1)
      found.push(
        text(
          rest
            .slice(each + 1)
            .filter((word) => word !== '--recursive' && word !== '--quiet')
            .join(' '),
        ),
      );
  } else if (args[at] === 'bisect' && rest[0] === 'run') {
    found.push({ kind: 'words', words: rest.slice(1) });
  } else if (args[at] === 'filter-branch') {
    found.push(...rest.filter((word) => /[\s;|&]/.test(word)).map(text));
  }
  return found;
}
