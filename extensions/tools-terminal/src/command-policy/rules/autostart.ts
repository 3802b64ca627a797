import { isUnknown } from '../marked-text.js';
import { operandsOf } from '../options.js';
import { ask, type BuiltInRule } from './rule.js';

/** Programs that make something run later or outside of the line, and the words that do this. */
const LATER: Readonly<Record<string, RegExp>> = {
  systemctl:
    /^(enable|reenable|preset|preset-all|link|start|try-restart|add-wants|add-requires|set-environment|import-environment)$/,
  loginctl: /^(enable-linger|disable-linger)$/,
  launchctl: /^(load|bootstrap|enable|submit|kickstart|start|setenv)$/,
  'update-rc.d': /^/,
  chkconfig: /^(on|off|--add|--del)$/,
  'rc-update': /^(add|del|delete)$/,
  'rc-service': /^(start|stop|restart)$/,
  service: /^(start|stop|restart|reload|--full-restart)$/,
  sv: /^(up|start|once)$/,
  supervisorctl: /^(start|restart|update|add)$/,
  brew: /^services$/,
  pm2: /^(startup|save|resurrect|install)$/,
  forever: /^start$/,
  schtasks: /^/i,
  incrontab: /^/,
  fcrontab: /^/,
  anacron: /^/,
  'systemd-run': /^/,
  chsh: /^/,
  'dbus-update-activation-environment': /^/,
  'xdg-autostart': /^/,
  'desktop-file-install': /^/,
  kwriteconfig5: /^/,
  gsettings: /^set$/,
  dconf: /^(write|load)$/,
  defaults: /^write$/,
};
/**
 * The words that set an option of a package manager. Some options name scripts, most name sources
 * of code.
 */
const SETTINGS: Readonly<Record<string, RegExp>> = {
  npm: /^(config|c) (set|edit|s)\b|^set\b/,
  pnpm: /^(config|c) (set|edit)\b|^set\b/,
  yarn: /^config set\b/,
  pip: /^config (set|edit)\b/,
  pip3: /^config (set|edit)\b/,
  go: /^env -w\b/,
  bundle: /^config (set|--global)\b/,
  gem: /^sources (-a|--add)\b/,
  composer: /^(global )?config\b/,
  poetry: /^config \S+ \S/,
  conda: /^config --(set|add|append|prepend)\b/,
  helm: /^repo add\b/,
};

/** The rule about programs that go on, or begin, after the line has ended. */
export const autostart: BuiltInRule = {
  name: 'autostart',
  about:
    'Making something start later: services, schedulers, login shells, settings of package managers.',
  judge({ name = '', args }) {
    const words = operandsOf(args);
    if (args.some((word) => /^(--help|--version|-h)$/.test(word))) return undefined;
    const later = Object.hasOwn(LATER, name) ? LATER[name] : undefined;
    if (
      later !== undefined &&
      (later.test('') || args.some((word) => later.test(word) || isUnknown(word)))
    ) {
      return ask('makes something run later, or outside of this line');
    }
    if (
      /^(docker|podman|nerdctl)$/.test(name) &&
      args.some((word) => /^--restart(=(?!no$)|$)/.test(word))
    ) {
      return ask('makes a container start again by itself');
    }
    const settings = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (settings === undefined) return undefined;
    const text = (name === 'go' || name === 'gem' || name === 'conda' ? args : words).join(' ');
    return settings.test(text) ? ask('keeps a setting that later commands obey') : undefined;
  },
};
