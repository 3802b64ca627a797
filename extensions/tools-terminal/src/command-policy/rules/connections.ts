import { isUnknown } from '../marked-text.js';
import { hasShort, operandsOf } from '../options.js';
import { ask, type BuiltInRule, type Objection } from './rule.js';

const RAW =
  /^(nc|ncat|netcat|nc\.(openbsd|traditional)|socat|telnet|websocat|wscat|pwncat|cryptcat|rlogin|ftp|tftp|sftp|lftp|ncftp)$/;
const HERE = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/;
/** Matches servers that let others in, and tunnels to this machine. */
const SERVERS =
  /^(sshd|dropbear|vncserver|x11vnc|tcpserver|xinetd|inetd|smbd|vsftpd|pure-ftpd|tftpd|rsyncd|stunnel\d?|ngrok|localtunnel|lt|bore|frpc|frps|chisel|gost|tailscaled|zerotier-one|iperf3?|webfsd|darkhttpd|miniserve|http-server|serve|live-server|static-server|local-web-server|ws|gotty|ttyd|wetty|tmate|croc|wormhole|transfer|magic-wormhole)$/;
const WITH_VERB: Readonly<Record<string, RegExp>> = {
  cloudflared: /^(tunnel|access)$/,
  tailscale: /^(up|funnel|serve|ssh|file|set)$/,
  openssl: /^(s_server|s_client|s_time)$/,
  rclone: /^(serve|rcd)$/,
  rsync: /^--daemon$/,
  git: /^(daemon|instaweb)$/,
  'git-daemon': /^/,
  caddy: /^(file-server|reverse-proxy|run|start)$/,
  ipfs: /^(daemon|add)$/,
  kubectl: /^proxy$/,
};

/** The rule about connections that others can begin, or that can carry any data. */
export const connections: BuiltInRule = {
  name: 'connection',
  about: 'Listening for others, raw connections and tunnels, and sending files to other machines.',
  judge({ name = '', args }) {
    if (args.length === 1 && /^(--help|--version|-h|-V|-v|help|version)$/.test(args[0] ?? '')) {
      return undefined;
    }
    if (RAW.test(name)) return raw(name, args);
    if (SERVERS.test(name)) {
      return isBoundHere(args) ? undefined : ask('lets others connect to this machine');
    }
    if (/^(curl|wget2?|http|https|xh|xhs|curlie|httpie)$/.test(name)) return sends(name, args);
    if (/^(i?python|pypy)[\d.]*$/.test(name)) {
      const at = args.findIndex((word) => /^-[a-zA-Z]*m/.test(word));
      const program =
        at === -1 ? '' : (args[at] ?? '').replace(/^-[a-zA-Z]*?m/, '') || args[at + 1];
      return /^(http\.server|SimpleHTTPServer|pyftpdlib|smtpd|aiosmtpd|uploadserver)$/.test(
        program ?? '',
      ) && !isBoundHere(args)
        ? ask('lets others connect to this machine')
        : undefined;
    }
    if (/^php[\d.]*$/.test(name)) {
      const at = args.findIndex((word) => /^-S/.test(word));
      if (at === -1) return undefined;
      const address = (args[at] ?? '').slice(2) || (args[at + 1] ?? '');
      return HERE.test(address.replace(/:\d*$/, ''))
        ? undefined
        : ask('lets others connect to this machine');
    }
    const verbs = Object.hasOwn(WITH_VERB, name) ? WITH_VERB[name] : undefined;
    return verbs !== undefined && args.some((word) => verbs.test(word))
      ? ask('lets others connect to this machine, or connects it to them')
      : undefined;
  },
};

/** Judges raw connections. `nc -z localhost 3000` only checks whether somebody listens. */
function raw(name: string, args: readonly string[]): Objection | undefined {
  const looks = /^(nc|ncat|netcat)/.test(name) && hasShort(args, 'z') && !hasShort(args, 'l');
  if (looks && HERE.test(operandsOf(args)[0] ?? '')) return undefined;
  return ask('opens a connection that carries whatever it is given');
}

/** Whether the options of a server let only this machine connect. */
function isBoundHere(args: readonly string[]): boolean {
  return args.some((word, at) => {
    const joined = /^--?(?:bind|host|hostname|address|listen|a|b)=(.+)$/.exec(word)?.[1];
    const value =
      joined ??
      (/^(-b|-a|-i|-l|-H|--bind|--host|--address|--listen|--interfaces)$/.test(args[at - 1] ?? '')
        ? word
        : '');
    return HERE.test(value.replace(/^tcp:\/\//, '').replace(/:\d*$/, ''));
  });
}

const METHOD = /^(-[a-zA-Z]*X|--request|--method)$/;

/** Judges uploads and `DELETE` requests of an HTTP client. */
function sends(name: string, args: readonly string[]): Objection | undefined {
  const isCurl = name === 'curl' || name === 'curlie';
  const sent = args.some((word, at) => {
    const before = args[at - 1] ?? '';
    if (isCurl) {
      if (/^(-[a-zA-Z]*T|--upload-file)$/.test(before) || /^(-T.|--upload-file=)/.test(word))
        return true;
      const value = /^(-[a-zA-Z]*[dF]|--data(-binary|-ascii|-urlencode)?|--form|--json)$/.test(
        before,
      )
        ? word
        : (/^(?:-[dF]|--data(?:-binary|-ascii|-urlencode)?=|--form=|--json=)(.+)$/s.exec(
            word,
          )?.[1] ?? '');
      return /^@|^[\w.[\]-]*=?[@<]/.test(value);
    }
    if (name.startsWith('wget')) return /^--(post-file|body-file)/.test(word);
    return /^[\w-]+:?=?@/.test(word) && !word.includes('://');
  });
  const deletes = args.some(
    (word, at) =>
      /^(-[a-zA-Z]*XDELETE|(--request|--method)=DELETE)$/i.test(word) ||
      (METHOD.test(args[at - 1] ?? '') && /^DELETE$/i.test(word)) ||
      (!isCurl && !name.startsWith('wget') && /^DELETE$/i.test(word)),
  );
  if (!sent && !deletes) return undefined;
  if (args.some(isAddressHere) && !args.some(isAddressElsewhere)) return undefined;
  return ask(sent ? 'sends a file to another machine' : 'deletes what is kept elsewhere');
}

function hostOf(word: string): string | undefined {
  return /^(?:[a-z]+:\/\/)?(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]*)(?::\d+)?(?:[/?#]|$)/i.exec(word)?.[1];
}

function isAddressHere(word: string): boolean {
  return !isUnknown(word) && (HERE.test(hostOf(word) ?? '') || /^:\d/.test(word));
}

function isAddressElsewhere(word: string): boolean {
  return isUnknown(word) || (word.includes('://') && !isAddressHere(word));
}
