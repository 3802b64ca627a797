import { operandsOf } from '../options.js';

/**
 * The operands, joined by a blank, with which a program removes something from the machine, or
 * changes its network or clock.
 */
const BY_WORDS: Readonly<Record<string, RegExp>> = {
  apt: /^(remove|purge|autoremove|autopurge|full-upgrade)\b/,
  'apt-get': /^(remove|purge|autoremove|dist-upgrade)\b/,
  aptitude: /^(remove|purge)\b/,
  dnf: /^(remove|erase|autoremove|distro-sync)\b/,
  yum: /^(remove|erase|autoremove)\b/,
  zypper: /^(remove|rm)\b/,
  apk: /^del\b/,
  snap: /^(remove|purge)\b/,
  flatpak: /^(uninstall|remove)\b/,
  brew: /^(uninstall|remove|rm|autoremove)\b/,
  port: /^uninstall\b/,
  emerge: /^(--unmerge|--depclean)\b/,
  ip: /^(link|addr|address|route|rule|netns|neigh) (set|add|del|delete|flush|change|replace)\b/,
  ifconfig: /\b(up|down|inet|netmask)\b/,
  nmcli: /\b(delete|down|off|modify|disconnect)\b/,
  timedatectl: /^set-/,
  hostnamectl: /^(set-|hostname .)/,
};
/** The options with which a program does the same. */
const BY_OPTION: Readonly<Record<string, RegExp>> = {
  dpkg: /^(-r|-P|--remove|--purge|--force-\S+)$/,
  rpm: /^(-[a-zA-Z]*e[a-zA-Z]*|--erase)$/,
  pacman: /^(-R[a-z]*|--remove)$/,
  journalctl: /^--(vacuum-\S+|rotate)$/,
  'update-alternatives': /^--(set|remove|remove-all|install|auto|config)$/,
};

/**
 * Whether a command removes something from the machine, or changes its network, its clock or its
 * name.
 */
export function changesMachine(name: string, args: readonly string[]): boolean {
  const byWords = Object.hasOwn(BY_WORDS, name) ? BY_WORDS[name] : undefined;
  if (byWords?.test(operandsOf(args).join(' ')) === true) return true;
  const byOption = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name] : undefined;
  // An option may have its value with it.
  return args.some((word) => byOption?.test(word.replace(/=.*$/s, '')) === true);
}
