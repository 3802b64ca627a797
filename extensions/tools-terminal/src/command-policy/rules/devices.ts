import { isUnknown } from '../marked-text.js';
import { hasShort, operandsOf, optionsOf } from '../options.js';
import { type PossibleFolders, resolveIn } from '../possible-folders.js';
import { ask, type BuiltInRule, deny, type Objection, worst } from './rule.js';

const KERNEL = /^\/proc\/(sysrq-trigger|kcore|sys\/)|^\/sys\//;
// Any other file below `/dev` may be a disk.
const HARMLESS_DEVICE =
  /^\/dev\/(null|zero|full|u?random|std(in|out|err)|tty[^/]*|pts\/.*|ptmx|fd\/\d+|shm\/.*|tcp\/.*|udp\/.*|log|kmsg|console|snd\/.*|dri\/.*|video\d+|input\/.*|serial\/.*|usb\/lp.*|lp\d+|rfcomm\d+|dsp)$/;

function isDevice(path: string): boolean {
  return KERNEL.test(path) || (/^\/dev\/./.test(path) && !HARMLESS_DEVICE.test(path));
}

const MAKERS =
  /^(mkfs(\..*)?|mke2fs|mkswap|mkdosfs|mkntfs|newfs|wipefs|blkdiscard|sgdisk|cfdisk|pvcreate|pvremove|vgremove|lvremove|badblocks|format)$/;
/**
 * For programs that mostly show information: the words that destroy data, and those that only
 * change it.
 */
const BY_VERB: Readonly<Record<string, { denies: RegExp; asks: RegExp }>> = {
  zpool: {
    denies: /^(create|destroy|labelclear|remove|split)$/,
    asks: /^(export|import|add|attach|detach|replace|offline|online|clear|scrub|trim|initialize|upgrade|set|reguid|reopen|checkpoint|sync)$/,
  },
  zfs: {
    denies: /^destroy$/,
    asks: /^(rollback|receive|recv|rename|promote|set|inherit|unmount|umount|upgrade|unload-key|change-key|release)$/,
  },
  btrfs: {
    denies: /(?!)/,
    asks: /^(delete|del|remove|replace|convert|rescue|chunk-recover|zero-log|restore|set-default|disable|resize)$/,
  },
  mdadm: {
    denies: /^(--create|-C|--build|-B|--zero-superblock|--grow|-G)$/,
    asks: /^(--stop|-S|--fail|-f|--set-faulty|--remove|-r|--add|-a|--assemble|-A|--manage|--replace|--re-add)$/,
  },
  cryptsetup: {
    denies:
      /^(luksFormat|format|luksErase|erase|reencrypt|luksRemoveKey|luksKillSlot|luksHeaderRestore|luksConvertKey)$/,
    asks: /^(open|create|luksOpen|close|remove|luksClose|resize|suspend|luksSuspend|refresh|luksAddKey|luksChangeKey|config|convert|luksResume)$/,
  },
  hdparm: {
    denies:
      /^--(security-|user-master|write-sector|repair-sector|make-bad-sector|trim-sector|fwdownload|sanitize|dco-|drq-|yes-i-know|please-destroy|Iread-sector)/,
    asks: /^-(?![CgIitTvVhHq]+$)[a-zA-Z]|^--(?!direct$|offset$|fibmap|prefer-ata|verbose|Istdout|Istdin|read-sector|dco-identify)[a-z]/,
  },
  nvme: {
    denies:
      /^(format|sanitize|write.*|fw-.*|delete-ns|create-ns|attach-ns|detach-ns|dsm|security-send|reset|subsystem-reset|set-feature)$/,
    asks: /^(connect.*|disconnect.*|resv-.*|admin-passthru|io-passthru|discover)$/,
  },
  diskutil: {
    denies:
      /^(erase.*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat|apfs|appleRAID|coreStorage|resizeVolume|mergePartitions|splitPartition|addPartition)$/i,
    asks: /^(unmount.*|umount.*|mount.*|eject|rename|repair.*|enable.*|disable.*)$/i,
  },
};
const TABLES = /^(fdisk|sfdisk|gdisk|parted)$/;
const CHANGES_TABLE = /^(rm|mklabel|mktable|mkpart|resizepart|set|toggle|name|rescue|disk_set)$/;
const HARMLESS_WORDS =
  /^(-l|--list|-V|--version|-h|--help|print|list|status|info|detail|--detail|-d|--dump|luksDump|isLuks|-I|id-ctrl|smart-log|get|--query|--examine)$/;

/** The rule about writing to block devices and to memory. */
export const blockDevices: BuiltInRule = {
  name: 'block-device',
  about: 'Writing to a block device, and making file systems or partitions.',
  judge({ name = '', args, redirects }, place) {
    const written = redirects.filter(({ writes }) => writes).map(({ target }) => target);
    return worst([
      ...written.map((target) => toDevice(place, target)),
      byName(name, args),
      ...[...writtenBy(name, args), ...perhapsWrittenBy(name, args)].map((path) =>
        toDevice(place, path),
      ),
    ]);
  },
};

function byName(name: string, args: readonly string[]): Objection | undefined {
  const verbs = Object.hasOwn(BY_VERB, name) ? BY_VERB[name] : undefined;
  if (verbs !== undefined) {
    if (args.some((word) => verbs.denies.test(word) && !/^--dco-identify/.test(word))) {
      return deny('makes or destroys a file system, or what a disk holds');
    }
    return args.some((word) => verbs.asks.test(word)) ? ask('changes a disk') : undefined;
  }
  if (name === 'parted' && args.some((word) => CHANGES_TABLE.test(word))) {
    return deny('makes or destroys a table of partitions');
  }
  if (TABLES.test(name) || MAKERS.test(name)) {
    const tells =
      args.some((word) => HARMLESS_WORDS.test(word)) ||
      (args.length === 0 && !name.startsWith('mk'));
    if (tells && !name.startsWith('mk')) return undefined;
    if (name === 'badblocks' && !hasShort(args, 'w')) return undefined;
    // A plain file with a file system in it is not a disk.
    if (
      name.startsWith('mk') &&
      optionsOf(args).some((word) => /^(-V|--version|-h|--help)$/.test(word))
    )
      return undefined;
    return deny('makes or destroys a file system, or a table of partitions');
  }
  return undefined;
}

/**
 * Returns the files that a program writes, if the program is one that is used to write to devices.
 * In a script of sed, text that is no file may be among them.
 */
export function writtenBy(name: string, args: readonly string[]): string[] {
  switch (name) {
    case 'dd':
    case 'dcfldd':
      return args.filter((word) => word.startsWith('of=')).map((word) => word.slice(3));
    case 'tee':
    case 'shred':
    case 'truncate':
    case 'sponge':
    case 'wipe':
      return operandsOf(args);
    case 'cp':
    case 'mv':
    case 'install':
    case 'rsync':
    case 'ln':
      return targetsOf(args);
    case 'find':
      return args.filter((_, at) => /^-f(printf?|print0|ls)$/.test(args[at - 1] ?? ''));
    default:
      if (/^g?sed$/.test(name)) return args.flatMap((script) => namedIn(script, WRITTEN_BY_SED));
      return /^[gmn]?awk$/.test(name)
        ? args.flatMap((program) => namedIn(program, WRITTEN_BY_AWK))
        : [];
  }
}

/** Match what may be a file after the command or the flag `w` in a script of sed. */
const WRITTEN_BY_SED = [
  /(?<![A-Za-z])[gpIiMm\d]{0,5}[wW]\s+([^\s;}]+)/g,
  /(?:^|[;{}\n][ \t]*|[\d$])[wW]([./\uE002][^\s;}]*)/g,
];
/** Matches the name of a file that a program of awk writes. */
const WRITTEN_BY_AWK = [/>\s*"([^"]+)"/g];

function namedIn(text: string, patterns: readonly RegExp[]): string[] {
  return patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, path = '']) => path));
}

function targetsOf(args: readonly string[]): string[] {
  const at = args.findIndex((word) => /^(-[a-zA-Z]*t|--target[a-z-]*)$/.test(word));
  if (at !== -1) return args.slice(at + 1, at + 2);
  const joined = args.flatMap((word) => /^(?:-t|--target[a-z-]*=)(.+)$/.exec(word)?.[1] ?? []);
  return joined.length > 0 ? joined : operandsOf(args).slice(-1);
}

const WRITERS =
  /^(curl|wget2?|aria2c|[gb]?s?d?tar|g?sort|uniq|qemu-img|openssl|gcc|g\+\+|cc|clang|ld|split|csplit|xxd|bmaptool|zip|socat|g?sed|[gmn]?awk|sqlite3|pg_dump|mysqldump|ffmpeg|scp|cpio|pv|partclone.*|flashcp|nandwrite|dd_rescue|parted)$/;

/**
 * Returns words of a program that may be files to which it writes. Only a device among them
 * matters.
 */
function perhapsWrittenBy(name: string, args: readonly string[]): string[] {
  if (/^g?ddrescue$/.test(name)) return operandsOf(args).slice(1);
  if (!WRITERS.test(name)) return [];
  return args.flatMap((word) => word.match(/\/+(?:dev|proc|sys)\/[^\s"';,})]+/g) ?? []);
}

function toDevice(place: PossibleFolders, path: string): Objection | undefined {
  return worst(
    resolveIn(place, path).map((resolved) => {
      if (resolved !== undefined)
        return isDevice(resolved) ? deny('writes to a device') : undefined;
      // Most unknown paths are not devices. An unknown path below `/dev` may be one.
      return isUnknown(path) && /^\/+dev\//.test(path) ? ask('may write to a device') : undefined;
    }),
  );
}
