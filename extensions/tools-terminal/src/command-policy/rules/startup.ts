import { type PossibleFolders, resolveIn } from '../possible-folders.js';
import { writtenBy } from './devices.js';
import { ask, type BuiltInRule, worst } from './rule.js';

// Of a home: what a shell, a login, ssh, git or the desktop reads when it starts.
const IN_HOME =
  /^(?:\uE002|\/root|\/(?:home|Users)\/[^/]+)\/\.(?:bash|zsh|profile|kshrc|cshrc|login|inputrc|ssh|gnupg|aws|kube|docker|npmrc|netrc|gitconfig|config\/(?:autostart|systemd|fish|git)|local\/bin|pam_environment|vimrc|xinitrc|xprofile)/;
const OF_SYSTEM = /^\/(?:etc|usr|bin|sbin|lib|lib64|boot|opt|var\/spool|var\/lib|Library|System)\//;
const HOOKS = /\/\.git\/(?:hooks|config)/;

/** Files that are run or obeyed later, unseen. */
export const startupFiles: BuiltInRule = {
  name: 'startup-file',
  about: 'Writing to files that run or are obeyed when something starts.',
  judge({ name = '', args, redirects }, place: PossibleFolders) {
    const written = redirects.filter(({ writes }) => writes).map(({ target }) => target);
    return worst(
      [...written, ...writtenBy(name, args)].flatMap((path) =>
        resolveIn(place, path).map((resolved = '') =>
          IN_HOME.test(resolved) || OF_SYSTEM.test(resolved) || HOOKS.test(resolved)
            ? ask('writes to a file that something obeys when it starts')
            : undefined,
        ),
      ),
    );
  },
};
