import { operandsOf } from '../options.js';
import { ask, type BuiltInRule } from './rule.js';

/**
 * The rule about containers with the rights or the files of the machine, and about removing
 * containers.
 */
export const container: BuiltInRule = {
  name: 'container-escape',
  about:
    'Containers that have the rights or the files of the machine, and removing containers and machines.',
  judge({ name = '', args }) {
    if (!args.includes('--help') && removesMachine(name, operandsOf(args))) {
      return ask('removes containers or machines with what they hold');
    }
    if (!/^(docker|podman|nerdctl|docker-compose)$/.test(name)) return undefined;
    const text = args.join(' ');
    if (
      args.some((word) =>
        /^--privileged(=|$)|^--(pid|userns|ipc|uts|net|network|cgroupns)=host$|^--cap-add|^--device|^--security-opt/.test(
          word,
        ),
      )
    ) {
      return ask('gives a container the rights of the machine');
    }
    if (/(^| )--(pid|userns|ipc|uts) host( |$)/.test(text))
      return ask('gives a container the rights of the machine');
    for (const [at, word] of args.entries()) {
      const value = /^(-v|--volume|--mount)$/.test(word)
        ? args[at + 1]
        : /^(-v|--volume=|--mount=)(.+)$/.exec(word)?.[2];
      if (value === undefined) continue;
      const source = /(?:source|src)=([^,]*)/.exec(value)?.[1] ?? value.split(':')[0] ?? '';
      if (
        /^\/+(etc|root|home|usr|var|proc|sys|dev|boot|run|var\/run)?\/*$|^\uE002\/*$|docker\.sock$/.test(
          source,
        )
      ) {
        return ask('gives a container the files of the machine');
      }
    }
    if (/\bdown\b.* (-v|--volumes)( |$)|\bvolume (rm|remove)\b/.test(text))
      return ask('removes volumes with what they hold');
    return /\bprune\b/.test(text) ? ask('removes what is not in use') : undefined;
  },
};

/** The words of each program that remove one or more of them. */
const REMOVES: Readonly<Record<string, RegExp>> = {
  docker: /^(rm|rmi|remove|kill|leave)$/,
  podman: /^(rm|rmi|remove|kill|reset)$/,
  nerdctl: /^(rm|rmi|remove|kill)$/,
  'docker-compose': /^(rm|kill)$/,
  buildah: /^(rm|rmi)$/,
  crictl: /^(rm|rmp|rmi)$/,
  ctr: /^(rm|remove|delete|del)$/,
  lxc: /^delete$/,
  incus: /^delete$/,
  'lxc-destroy': /^/,
  virsh: /^(undefine|destroy|vol-delete|vol-wipe|pool-delete|snapshot-delete)$/,
  VBoxManage: /^(unregistervm|closemedium|poweroff|deletemedium)$/,
  vboxmanage: /^(unregistervm|closemedium|poweroff|deletemedium)$/,
  vmrun: /^deleteVM$/,
  prlctl: /^delete$/,
  vagrant: /^destroy$/,
  multipass: /^(delete|purge)$/,
  limactl: /^(delete|remove|rm|factory-reset)$/,
  colima: /^delete$/,
  minikube: /^delete$/,
  kind: /^delete$/,
  k3d: /^delete$/,
  qm: /^destroy$/,
  pct: /^destroy$/,
  xe: /^vm-(uninstall|destroy)$/,
  govc: /^(vm|datastore|snapshot|pool|folder|host|object)[.](destroy|remove|rm)$/,
};

/**
 * Whether a command removes a machine. Only the first words count, because later ones may be
 * another command.
 */
function removesMachine(name: string, words: readonly string[]): boolean {
  const removes = Object.hasOwn(REMOVES, name) ? REMOVES[name] : undefined;
  if (removes === undefined) return false;
  const runs = /^(docker|podman|nerdctl|docker-compose)$/.test(name)
    ? words.findIndex((word) => /^(run|exec|build)$/.test(word))
    : -1;
  const verbs = words.slice(0, runs === -1 ? 4 : Math.min(runs, 4));
  return name === 'lxc-destroy' || verbs.some((word) => removes.test(word));
}
