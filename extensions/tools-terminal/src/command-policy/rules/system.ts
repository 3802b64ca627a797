import { hasLong, hasShort, operandsOf } from '../options.js';
import { changesMachine } from './machine-changes.js';
import { ask, type BuiltInRule, deny } from './rule.js';

/** The rule about turning the machine off. */
export const shutdown: BuiltInRule = {
  name: 'shutdown',
  about: 'Turning off or restarting the machine.',
  judge({ name = '', args }) {
    if (/^(shutdown|reboot|halt|poweroff|kexec)$/.test(name)) {
      return args.some((word) => /^(--help|-h|--version|-c|--show|-w)$/.test(word)) &&
        name !== 'shutdown'
        ? undefined
        : deny('turns off the machine');
    }
    if (name === 'systemctl' || name === 'loginctl') {
      const [verb = ''] = operandsOf(args);
      if (
        /^(poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|isolate|exit|soft-reboot)/.test(
          verb,
        )
      )
        return deny('turns off the machine');
      return /^(stop|disable|mask|kill|restart|set-default|edit|revert|terminate-|lock-)/.test(verb)
        ? ask('changes what services run')
        : undefined;
    }
    return /^(init|telinit)$/.test(name) && /^[0-6sS]$/.test(args[0] ?? '')
      ? deny('turns off the machine')
      : undefined;
  },
};

/** The rule about ending all processes. */
export const killAll: BuiltInRule = {
  name: 'kill-all',
  about: 'Ending all processes, or the first.',
  judge({ name = '', args }) {
    if (name === 'killall5') return deny('ends all processes');
    if (name === 'kill') {
      const words = args.filter((word) => word !== '--');
      const targets = /^-(s|n|-signal)$/.test(words[0] ?? '')
        ? words.slice(2)
        : /^-/.test(words[0] ?? '') && words.length > 1
          ? words.slice(1)
          : words;
      return targets.some((word) => /^(-1|0*1|-0*1)$/.test(word))
        ? deny('ends all processes, or the first')
        : targets.includes('0')
          ? ask('ends all processes of the group')
          : undefined;
    }
    if (/^(pkill|killall|skill)$/.test(name)) {
      const all =
        operandsOf(args).some((word) => /^(\.|\.\*|\^|\*|)$/.test(word)) ||
        hasShort(args, 'u') ||
        hasLong(args, 'user') ||
        hasLong(args, 'euid');
      return all ? ask('ends many processes at once') : undefined;
    }
    return undefined;
  },
};

/** Whether a mode sets the bit by which a file runs as its owner or group. */
function setsOwnerRights(name: string, args: readonly string[]): boolean {
  if (name === 'chmod') return args.some(isOwnerMode);
  if (!/^(install|ginstall|mkdir|mkfifo|mknod)$/.test(name)) return false;
  return args.some((word, at) => {
    const joined = /^(?:-[a-zA-Z]*m|--mode=)(.+)$/.exec(word)?.[1];
    return isOwnerMode(joined ?? (/^(-[a-zA-Z]*m|--mode)$/.test(args[at - 1] ?? '') ? word : ''));
  });
}

/** Whether a word is a mode that sets the bit: `4755`, `u+s`, `g=rxs`, `+6000`. */
function isOwnerMode(word: string): boolean {
  if (/^0*[2-7]\d{3}$/.test(word)) return !/^0*[01]\d{3}$/.test(word);
  return word
    .split(',')
    .some((mode) =>
      /^[ugoa]*(?:[-+=][rwxXstugo]*)*[+=](?:[rwxXt]*s[rwxXst]*|0*[2-7]\d{3})(?:[-+=]|$)/.test(mode),
    );
}

/** The rule about acting with the rights of another user. */
export const privilege: BuiltInRule = {
  name: 'privilege',
  about: 'Running with the rights of another user, and letting programs do so.',
  judge({ name = '', args }) {
    if (setsOwnerRights(name, args)) return ask('lets a program run with the rights of its owner');
    if (
      /^(su|sudo|doas)$/.test(name) &&
      args.length === 1 &&
      /^(--version|--help|-V)$/.test(args[0] ?? '')
    )
      return undefined;
    return /^(sudo|sudoedit|doas|su|pkexec|runuser|chroot|nsenter|visudo|passwd|chpasswd|usermod|useradd|userdel|adduser|deluser|groupdel|setcap|machinectl)$/.test(
      name,
    )
      ? ask('uses or changes the rights of users')
      : undefined;
  },
};

/** The rule about the machine's own configuration. */
export const machine: BuiltInRule = {
  name: 'machine',
  about: 'Firewalls, kernel modules, mounts, scheduled jobs, and removing what is installed.',
  judge({ name = '', args }) {
    switch (name) {
      case 'iptables':
      case 'ip6tables':
      case 'nft':
      case 'ufw':
      case 'firewall-cmd':
      case 'pfctl':
      case 'ipset': {
        if (args.some((word) => /^(-L|-S|--list.*|list|status|-s|--state|--get.*)$/.test(word)))
          return undefined;
        const flushes = args.some((word) =>
          /^(-F|--flush|flush|-X|disable|reset|--panic-on|-d)$/.test(word),
        );
        return flushes ? deny('takes the firewall down') : ask('changes the firewall');
      }
      case 'crontab':
        if (hasShort(args, 'r')) return deny('removes all scheduled jobs');
        return hasShort(args, 'l') ? undefined : ask('changes scheduled jobs');
      case 'at':
      case 'batch':
        return ask('runs something later, unseen');
      case 'insmod':
      case 'rmmod':
      case 'modprobe':
      case 'swapoff':
      case 'umount':
      case 'mount':
        return args.length === 0 || hasShort(args, 'l')
          ? undefined
          : ask('changes the running system');
      case 'sysctl':
        return args.some((word) => word === '-w' || word.includes('='))
          ? ask('changes the running system')
          : undefined;
      case 'history':
        if (hasShort(args, 's')) return ask('puts a command into the history of the shell');
        return hasShort(args, 'c') || hasShort(args, 'w')
          ? ask('erases the history of the shell')
          : undefined;
      case 'fc':
        return hasShort(args, 'l') ? undefined : ask('runs a command of the history again');
      case 'shopt':
        return args.includes('expand_aliases') && hasShort(args, 's')
          ? ask('makes names mean something else')
          : undefined;
      case 'hash':
        return hasShort(args, 'p') ? ask('makes names mean something else') : undefined;
      case 'enable':
        return hasShort(args, 'f') ? ask('loads code into the shell') : undefined;
    }
    return changesMachine(name, args) ? ask('changes what the machine has') : undefined;
  },
};
