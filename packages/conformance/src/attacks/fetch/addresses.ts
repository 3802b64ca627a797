import fc from 'fast-check';

export type IPv4 = readonly [number, number, number, number];

/** Addresses that no call may reach under any policy, by the provider that uses them. */
export const METADATA_ADDRESSES = [
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '100.96.0.96',
  '169.254.0.23',
  '169.254.169.255',
  '169.254.169.252',
  '169.254.169.250',
  '192.0.0.192',
];
export const METADATA_HOSTS = [
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fd00:a9fe:a9fe::1]',
  '[fd00:c1::a9fe:a9fe]',
  '[fd00:100::100:200]',
  'metadata.exoscale.com',
  'api.service.softlayer.com',
  'metadata.azure.internal',
  'rancher-metadata',
  'metadata.tencentyun.com',
  'api.metadata.cloud.ibm.com',
  'metadata.google.internal',
  'METADATA.google.INTERNAL.',
];

/** The IANA special-purpose ranges of IPv4, as base address and number of leading bits. */
const SPECIAL_IPV4: ReadonlyArray<readonly [IPv4, bits: number]> = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 4],
  [[240, 0, 0, 0], 4],
];

/**
 * An address that is not public. The addresses of this machine are more frequent, since requests to
 * them are noticed.
 */
export const specialIPv4: fc.Arbitrary<IPv4> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<IPv4>([127, 0, 0, 1]) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...SPECIAL_IPV4), fc.nat(0xffff_ffff))
      .map(([[base, bits], random]): IPv4 => {
        const mask = 2 ** (32 - bits);
        return bytesOf(numberOf(base) + (random % mask));
      }),
  },
);

export function parseIPv4(text: string): IPv4 {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a, b, c, d];
}

function numberOf([a, b, c, d]: IPv4): number {
  return ((a * 256 + b) * 256 + c) * 256 + d;
}

function bytesOf(number: number): IPv4 {
  const byte = (shift: number) => Math.floor(number / 2 ** shift) % 256;
  return [byte(24), byte(16), byte(8), byte(0)];
}

const octal = (part: number) => `0${part.toString(8)}`;
const hex = (part: number) => `0x${part.toString(16)}`;
const fullwidth = (text: string) =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
const dotted = (ip: IPv4) => ip.join('.');
const tail = ([, b, c, d]: IPv4) => (b * 256 + c) * 256 + d;

/** All spellings that a URL parser reads as an IPv4 address. */
export const IPV4_SPELLINGS: Record<string, (ip: IPv4) => string> = {
  dotted,
  'with a trailing dot': (ip) => `${dotted(ip)}.`,
  'one number': (ip) => String(numberOf(ip)),
  'one hex number': (ip) => hex(numberOf(ip)),
  'one hex number, upper case': (ip) => `0X${numberOf(ip).toString(16).toUpperCase()}`,
  'one octal number': (ip) => octal(numberOf(ip)),
  'one hex number with zeros': (ip) => `0x00000000${numberOf(ip).toString(16)}`,
  'octal parts': (ip) => ip.map(octal).join('.'),
  'octal parts with zeros': (ip) => ip.map((part) => `000${octal(part)}`).join('.'),
  'hex parts': (ip) => ip.map(hex).join('.'),
  'mixed parts': ([a, b, c, d]) => `${hex(a)}.${b}.${octal(c)}.${d}`,
  'two parts': (ip) => `${ip[0]}.${tail(ip)}`,
  'three parts': ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  'fullwidth digits': (ip) => fullwidth(dotted(ip)),
  'fullwidth dots': (ip) => dotted(ip).replaceAll('.', '\uff0e'),
  'ideographic dots': (ip) => dotted(ip).replaceAll('.', '\u3002'),
  'percent-encoded': (ip) => dotted(ip).replaceAll(/\d/g, (digit) => `%3${digit}`),
  'percent-encoded dots': (ip) => dotted(ip).replaceAll('.', '%2e'),
  'with a soft hyphen': (ip) => dotted(ip).replace('.', '.\u00ad'),
  'with a tab': (ip) => dotted(ip).replace('.', '\t.'),
};

const word = (high: number, low: number) => ((high << 8) | low).toString(16);
const words = ([a, b, c, d]: IPv4) => `${word(a, b)}:${word(c, d)}`;
const flipped = (ip: IPv4): IPv4 => bytesOf(0xffff_ffff - numberOf(ip));

/** All IPv6 forms that contain an IPv4 address. */
export const IPV4_EMBEDDINGS: Record<string, (ip: IPv4) => string> = {
  'mapped, dotted': (ip) => `[::ffff:${dotted(ip)}]`,
  mapped: (ip) => `[::ffff:${words(ip)}]`,
  'mapped, in full': (ip) => `[0:0:0:0:0:FFFF:${words(ip)}]`,
  'mapped, with zeros': (ip) => `[0000:0000::ffff:${dotted(ip)}]`,
  compatible: (ip) => `[::${words(ip)}]`,
  'compatible, dotted': (ip) => `[::${dotted(ip)}]`,
  SIIT: (ip) => `[::ffff:0:${words(ip)}]`,
  NAT64: (ip) => `[64:ff9b::${words(ip)}]`,
  'local NAT64, /96': (ip) => `[64:ff9b:1::${words(ip)}]`,
  'local NAT64, /48': ([a, b, c, d]) => `[64:ff9b:1:${word(a, b)}:${word(0, c)}:${word(d, 0)}::]`,
  'local NAT64, /56': ([a, b, c, d]) => `[64:ff9b:1:${word(0, a)}:${word(0, b)}:${word(c, d)}::]`,
  'local NAT64, /64': ([a, b, c, d]) => `[64:ff9b:1:0:${word(0, a)}:${word(b, c)}:${word(d, 0)}:0]`,
  '6to4': (ip) => `[2002:${words(ip)}::]`,
  'Teredo, the server': (ip) => `[2001:0:${words(ip)}::]`,
  'Teredo, the client': (ip) => `[2001:0:808:808:0:0:${words(flipped(ip))}]`,
  ISATAP: (ip) => `[2607:f8b0::5efe:${words(ip)}]`,
  'ISATAP, with the universal bit': (ip) => `[2607:f8b0::200:5efe:${words(ip)}]`,
};

/** IPv6 addresses that are not public. */
export const SPECIAL_IPV6 = [
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[fe80::1]',
  '[fe90::1]',
  '[febf:ffff::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fdff::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[4000::1]',
  '[fe80::1%25lo]',
  '[::1%lo]',
];

const block = fc.nat(0xffff).map((number) => number.toString(16));
const below = (prefix: string, blocks: number) =>
  fc
    .array(block, { minLength: blocks, maxLength: blocks })
    .map((rest) => `[${prefix}:${rest.join(':')}]`);

/** The host of a URL, in any spelling, that leads to an address that is not public. */
export const specialHost: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(specialIPv4, fc.constantFrom(...Object.values(IPV4_SPELLINGS)))
    .map(([ip, spell]) => spell(ip)),
  fc
    .tuple(specialIPv4, fc.constantFrom(...Object.values(IPV4_EMBEDDINGS)))
    .map(([ip, embed]) => embed(ip)),
  fc.constantFrom(...SPECIAL_IPV6),
  below('fe80', 7),
  below('fd00', 7),
  below('fec0', 7),
  below('ff05', 7),
  below('2001:db8', 6),
  below('2002', 7),
  below('0', 7),
  below('1fff', 7),
  below('4000', 7),
);
