import { isUnknown } from '../marked-text.js';
import { hasShort, operandsOf, optionsOf } from '../options.js';
import { type Place, resolveIn } from '../place.js';
import { ask, type BuiltInRule, deny, type Objection, worst } from './rule.js';

const DEVICE =
  /^\/proc\/(sysrq-trigger|kcore|sys\/)|^\/sys\/|^\/dev\/(\uE003|[shv]d|xvd|nvme|mmcblk|r?disk|mapper\/|dm-|loop|md|ram|zd|sr|nbd|k?mem|port|zram|bcache|drbd|mtd|ubi|fd\d+h|cciss|ida|pmem)/;
const MAKERS =
  /^(mkfs(\..*)?|mke2fs|mkswap|mkdosfs|mkntfs|newfs|wipefs|blkdiscard|sgdisk|cfdisk|pvcreate|pvremove|vgremove|lvremove|badblocks|mdadm|zpool|cryptsetup|hdparm|nvme|diskutil|format)$/;
const TABLES = /^(fdisk|sfdisk|gdisk|parted)$/;
const HARMLESS_WORDS =
  /^(-l|--list|-V|--version|-h|--help|print|list|status|info|detail|--detail|-d|--dump|luksDump|isLuks|-I|id-ctrl|smart-log|get|--query|--examine)$/;

/** Writing to block devices and to memory. */
export const blockDevices: BuiltInRule = {
  name: 'block-device',
  about: 'Writing to a block device, and making file systems or partitions.',
  judge({ name = '', args, redirects }, place) {
    const written = redirects.filter(({ writes }) => writes).map(({ target }) => target);
    return worst([
      ...written.map((target) => toDevice(place, target)),
      byName(name, args),
      ...writtenBy(name, args).map((path) => toDevice(place, path)),
    ]);
  },
};

function byName(name: string, args: readonly string[]): Objection | undefined {
  if (TABLES.test(name) || MAKERS.test(name)) {
    const tells =
      args.some((word) => HARMLESS_WORDS.test(word)) ||
      (args.length === 0 && !name.startsWith('mk'));
    if (tells && !name.startsWith('mk')) return undefined;
    if (name === 'badblocks' && !hasShort(args, 'w')) return undefined;
    // A file system in a plain file is no disk.
    if (
      name.startsWith('mk') &&
      optionsOf(args).some((word) => /^(-V|--version|-h|--help)$/.test(word))
    )
      return undefined;
    return deny('makes or destroys a file system, or a table of partitions');
  }
  return undefined;
}

/** The files that a program writes, of those that are used to write to devices. */
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
      return operandsOf(args).slice(-1);
    case 'find':
      return args.filter((_, at) => /^-f(printf?|print0|ls)$/.test(args[at - 1] ?? ''));
    default:
      return [];
  }
}

function toDevice(place: Place, path: string): Objection | undefined {
  return worst(
    resolveIn(place, path).map((resolved) => {
      if (resolved !== undefined)
        return DEVICE.test(resolved) ? deny('writes to a device') : undefined;
      // Most paths that are not known are no devices; those below `/dev` may be.
      return isUnknown(path) && /^\/+dev\//.test(path) ? ask('may write to a device') : undefined;
    }),
  );
}
