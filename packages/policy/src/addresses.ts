import { isIpLiteral, normalizeHost } from './hosts.js';
import { once } from './once.js';

/** What an IP address is for. Only `public` may be connected to without the operator's word. */
export type AddressKind =
  | 'public'
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'multicast'
  | 'reserved'
  | 'unspecified'
  | 'invalid';

export interface AddressClass {
  readonly kind: AddressKind;
  /** The IPv4 address inside an IPv6 address that decided the kind. */
  readonly embedded?: string;
}

type RangesByKind = readonly (readonly [AddressKind, readonly string[]])[];

/**
 * IANA IPv4 Special-Purpose Address Registry (RFC 6890). Addresses that are not listed are public.
 */
const IPV4_KINDS: RangesByKind = [
  ['unspecified', ['0.0.0.0/8']],
  ['loopback', ['127.0.0.0/8']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10']],
  ['link-local', ['169.254.0.0/16']],
  ['multicast', ['224.0.0.0/4']],
  [
    'reserved',
    [
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '240.0.0.0/4',
    ],
  ],
];

/**
 * IANA IPv6 Special-Purpose Address Registry. The first match decides. Addresses that match nothing
 * are reserved.
 */
const IPV6_KINDS: RangesByKind = [
  ['unspecified', ['::/128']],
  ['loopback', ['::1/128']],
  ['private', ['fc00::/7', 'fec0::/10']],
  ['link-local', ['fe80::/10']],
  ['multicast', ['ff00::/8']],
  // IETF protocol assignments with Teredo and ORCHID, documentation, 6to4.
  ['reserved', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']],
  ['public', ['2000::/3']],
];

/** IPv6 ranges whose addresses reach exactly the IPv4 address inside them: mapped, and NAT64. */
const TRANSPARENT_RANGES = ['::ffff:0:0/96', '64:ff9b::/96'];

/**
 * Where an IPv6 address holds an IPv4 address, as byte positions: compatible (RFC 4291), mapped
 * (RFC 4291), SIIT (RFC 2765), NAT64 (RFC 6052), local NAT64 with each of its prefix lengths (RFC
 * 8215), 6to4 (RFC 3056) and the server of a Teredo address (RFC 4380).
 */
const EMBEDDINGS = [
  ['::/96', [12, 13, 14, 15]],
  ['::ffff:0:0/96', [12, 13, 14, 15]],
  ['::ffff:0:0:0/96', [12, 13, 14, 15]],
  ['64:ff9b::/96', [12, 13, 14, 15]],
  ['64:ff9b:1::/48', [6, 7, 9, 10]],
  ['64:ff9b:1::/48', [7, 9, 10, 11]],
  ['64:ff9b:1::/48', [9, 10, 11, 12]],
  ['64:ff9b:1::/48', [12, 13, 14, 15]],
  ['2002::/16', [2, 3, 4, 5]],
  ['2001::/32', [4, 5, 6, 7]],
] as const;
const TEREDO = '2001::/32';
const LAST_FOUR = [12, 13, 14, 15] as const;

/**
 * Addresses at which clouds give out credentials. The IPv4 ones also count inside any IPv6 address.
 * Each is documented by the provider that serves it, or used by the provider's own program. Names
 * and addresses that stand only in lists of third parties are left out. Providers that serve
 * 169.254.169.254 have no line of their own: DigitalOcean, Exoscale, Hetzner, Huawei, IBM, Linode,
 * OpenStack, Oracle, UpCloud, Vultr, Yandex.
 */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  '169.254.169.254', // AWS: EC2 User Guide, "Instance metadata"; Google; Azure; most others
  '169.254.169.252', // Google: GKE, "Workload Identity", the metadata server behind the usual address
  '169.254.169.250', // Rancher 1: "Metadata service", `rancher-metadata` of rancher/rancher-dns
  '169.254.169.255', // rkt: its metadata service
  '169.254.170.2', // AWS: ECS, "Task IAM role", AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
  '169.254.170.23', // AWS: EKS User Guide, "Pod Identity Agent"
  '169.254.42.42', // Scaleway: "Instance metadata"; cloud-init, DataSourceScaleway
  '169.254.0.23', // Tencent: what metadata.tencentyun.com is
  '168.63.129.16', // Azure: "What is IP address 168.63.129.16?"
  '100.100.100.200', // Alibaba: ECS, "Instance metadata"; cloud-init, DataSourceAliYun
  '100.96.0.96', // Volcengine: ECS, "Instance metadata"; volcengine/cello
  '192.0.0.192', // Oracle: Compute Classic, whose pages are gone
  'fd00:ec2::254', // AWS: EC2 User Guide, "Instance metadata", IPv6
  'fd00:ec2::23', // AWS: EKS User Guide, "Pod Identity Agent", IPv6
  'fd00:42::42', // Scaleway: "Instance metadata", IPv6; cloud-init, DataSourceScaleway
  'fd20:ce::254', // Google: Compute Engine, "Query metadata", IPv6-only instances
  'fd00:a9fe:a9fe::1', // Akamai (Linode): "Metadata service"; cloud-init, DataSourceAkamai
  'fd00:c1::a9fe:a9fe', // Oracle: oci-python-sdk, instance principals
  'fd00:100::100:200', // Alibaba: cloud-init, DataSourceAliYun, IPv6
  'fe80::a9fe:a9fe', // OpenStack: Neutron, "Metadata service query over IPv6"
]);

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata', // Google: the short name of the next
  'metadata.google.internal', // Google: Compute Engine, "Query metadata"
  'metadata.goog', // Google: the same page
  'metadata.tencentyun.com', // Tencent: CVM, "Instance metadata"
  'metadata.platformequinix.com', // Equinix Metal: "Metadata"
  'metadata.packet.net', // Packet, before Equinix
  'metadata.exoscale.com', // Exoscale: "cloud-init user data"; exoscale/egoscale
  'api.metadata.cloud.ibm.com', // IBM: VPC, "Metadata service", also over https
  'data-server', // CloudStack: cloud-init, DataSourceCloudStack
  'instance-data', // AWS and its kind: cloud-init, DataSourceEc2
  'instance-data.ec2.internal', // AWS: the same in its first region
  'api.service.softlayer.com', // IBM: classic infrastructure, SoftLayer_Resource_Metadata
  'metadata.azure.internal', // Azure: a name of the usual address
  'rancher-metadata', // Rancher 1: "Metadata service"
  'rancher-metadata.rancher.internal', // the same, in full
]);

/** Loaded at its first use: most programs that import this package judge no address. */
const net = once(() => process.getBuiltinModule('node:net'));

/** Ranges, as Node compares them. */
function rangesOf(family: 'ipv4' | 'ipv6', ranges: readonly string[]) {
  const { BlockList } = net();
  const list = new BlockList();
  for (const range of ranges) {
    const [start = '', prefix] = range.split('/');
    list.addSubnet(start, Number(prefix), family);
  }
  return { hold: (address: string) => list.check(address, family) };
}

const ipv4Kinds = once(() => kindsOf('ipv4', IPV4_KINDS));
const ipv6Kinds = once(() => kindsOf('ipv6', IPV6_KINDS));
const transparent = once(() => rangesOf('ipv6', TRANSPARENT_RANGES));
const teredo = once(() => rangesOf('ipv6', [TEREDO]));
const embeddings = once(() =>
  EMBEDDINGS.map(([range, positions]) => ({ range: rangesOf('ipv6', [range]), positions })),
);

function kindsOf(family: 'ipv4' | 'ipv6', kinds: RangesByKind) {
  return kinds.map(([kind, ranges]) => ({ kind, range: rangesOf(family, ranges) }));
}

/** An IPv6 address. */
interface IPv6 {
  /** As the URL parser writes it: compressed, and never with an IPv4 address in dotted decimal. */
  readonly text: string;
  /** Its eight parts of 16 bits. */
  readonly parts: readonly number[];
}

/** Reads an IPv6 address in any spelling; `undefined` for anything else. */
function readIPv6(address: string): IPv6 | undefined {
  // `net.isIPv6` also takes addresses with a zone, and the URL parser takes brackets.
  if (address.startsWith('[') || address.includes('%')) return undefined;
  const text = normalizeHost(address);
  if (text === null || !net().isIPv6(text)) return undefined;
  const [before = '', after] = text.split('::');
  const [first, last] = [numbersOf(before), numbersOf(after ?? '')];
  const zeros = after === undefined ? 0 : 8 - first.length - last.length;
  return { text, parts: [...first, ...new Array<number>(zeros).fill(0), ...last] };
}

function numbersOf(parts: string): number[] {
  return parts === '' ? [] : parts.split(':').map((part) => Number.parseInt(part, 16));
}

/**
 * What an IP address is for, by the IANA special-purpose registries (RFC 6890). Of IPv6, only `2000::/3`
 * without its special ranges is public. An IPv4 address inside an IPv6 address counts as well: the worse
 * of the two decides.
 *
 * @param address an IPv4 address in dotted decimal or an IPv6 address; other spellings, and
 * addresses with a zone, are `invalid`
 * @returns the kind of the address; also the IPv4 address inside, if that one decides
 */
export function classifyAddress(address: string): AddressClass {
  if (net().isIPv4(address)) return { kind: classifyIPv4(address) };
  const ip = readIPv6(address);
  return ip === undefined ? { kind: 'invalid' } : classifyIPv6(ip);
}

/**
 * The address that a connection to an address reaches, for comparing. An IPv6 address that only
 * carries an IPv4 address (mapped, NAT64) reaches that IPv4 address.
 *
 * @param host a normalised host; a host that is no address is returned as it is
 * @returns the IPv4 address in dotted decimal, or `host` as it is
 */
export function reachedAddress(host: string): string {
  if (!host.includes(':')) return host;
  const ip = readIPv6(host);
  return ip !== undefined && transparent().hold(ip.text) ? dotted(bytesOf(ip), LAST_FOUR) : host;
}

function bytesOf({ parts }: IPv6): number[] {
  return parts.flatMap((part) => [part >> 8, part & 0xff]);
}

function classifyIPv4(address: string): AddressKind {
  if (METADATA_ADDRESSES.has(address)) return 'metadata';
  return ipv4Kinds().find(({ range }) => range.hold(address))?.kind ?? 'public';
}

function classifyIPv6(ip: IPv6): AddressClass {
  const kind = ipv6Kinds().find(({ range }) => range.hold(ip.text))?.kind ?? 'reserved';
  // `::` and `::1` would also match as compatible IPv4 addresses.
  if (kind === 'unspecified' || kind === 'loopback') return { kind };
  if (METADATA_ADDRESSES.has(ip.text)) return { kind: 'metadata' };
  const bytes = bytesOf(ip);
  const lastFour = dotted(bytes, LAST_FOUR);
  // Under any prefix: a network may translate addresses under prefixes of its own.
  if (METADATA_ADDRESSES.has(lastFour)) return { kind: 'metadata', embedded: lastFour };
  const inside = embeddedIPv4(ip, bytes).map((embedded) => ({
    kind: classifyIPv4(embedded),
    embedded,
  }));
  const denied =
    inside.find((one) => one.kind === 'metadata') ?? inside.find((one) => one.kind !== 'public');
  if (denied) return denied;
  return transparent().hold(ip.text) ? { kind: 'public' } : { kind };
}

function embeddedIPv4(ip: IPv6, bytes: number[]): string[] {
  const found = embeddings()
    .filter(({ range }) => range.hold(ip.text))
    .map(({ positions }) => dotted(bytes, positions));
  // ISATAP (RFC 5214): an interface id of [02]00:5efe:a.b.c.d below any prefix.
  const [high, id] = ip.parts.slice(4);
  if ((high === 0 || high === 0x200) && id === 0x5efe) found.push(dotted(bytes, LAST_FOUR));
  // The client of a Teredo address is stored with every bit flipped.
  if (teredo().hold(ip.text)) {
    found.push(
      dotted(
        bytes.map((byte) => byte ^ 0xff),
        LAST_FOUR,
      ),
    );
  }
  return found;
}

function dotted(bytes: readonly number[], positions: readonly number[]): string {
  return positions.map((position) => bytes[position]).join('.');
}

/**
 * Whether an address may be connected to. A metadata address never may.
 *
 * @param address an IPv4 or IPv6 address; anything else is never allowed
 * @param options `allowPrivate`: whether private, loopback and link-local addresses are allowed
 */
export function isAddressAllowed(address: string, options: { allowPrivate: boolean }): boolean {
  const { kind } = classifyAddress(address);
  if (kind === 'metadata' || kind === 'invalid') return false;
  return kind === 'public' || options.allowPrivate;
}

/**
 * Whether a host is the name or the address of a cloud's metadata service.
 *
 * @param host a name or an address, in any spelling
 * @returns `false` also for a text that is no host
 */
export function isMetadataHost(host: string): boolean {
  const name = normalizeHost(host);
  if (name === null) return false;
  return (
    METADATA_NAMES.has(name) || (isIpLiteral(name) && classifyAddress(name).kind === 'metadata')
  );
}
