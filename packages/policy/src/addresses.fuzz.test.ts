import { isIP, isIPv4, isIPv6 } from 'node:net';
import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect } from 'vitest';
import { classifyAddress, isAddressAllowed, isMetadataHost, reachedAddress } from './addresses.js';
import { EMBEDDINGS } from './fixtures/address-embeddings.js';
import { wildHost } from './fixtures/hosts-arbitraries.js';
import { normalizeHost } from './hosts.js';

// Copied again from the registries of IANA, and checked by another implementation.
const BLOCKED_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 100.100.100.200/32'.split(
    ' ',
  );
const BLOCKED_V6 = '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20'.split(' ');
/** IPv6 ranges whose addresses reach exactly the IPv4 address inside them. */
const TRANSPARENT_V6 = ['::ffff:0:0/96', '64:ff9b::/96'];
const METADATA_V4 =
  '169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23 169.254.169.255 169.254.169.252 169.254.169.250 100.96.0.96 168.63.129.16 100.100.100.200 192.0.0.192'.split(
    ' ',
  );

const v4 = listOf(BLOCKED_V4);
const v6 = listOf(BLOCKED_V6);
const transparent = listOf(TRANSPARENT_V6);

function listOf(list: readonly string[]): { check(address: string): boolean } {
  const ranges = list.map((range) => ipaddr.parseCIDR(range));
  return {
    check: (address) => {
      const ip = ipaddr.parse(address);
      return ranges.some(([start, bits]) => ip.kind() === start.kind() && ip.match(start, bits));
    },
  };
}

const toIPv4 = (bytes: readonly number[]) => bytes.join('.');
const toIPv6 = (parts: readonly number[]) => parts.map((part) => part.toString(16)).join(':');

/** IPv4 addresses, half of them in or next to a special range. */
const edges = [...BLOCKED_V4.flatMap(endsOf), ...METADATA_V4].map(numberOf);

function numberOf(ipv4: string): number {
  return ipv4.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function ipv4Of(number: number): string {
  return toIPv4([24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256));
}

function endsOf(range: string): string[] {
  const [net = '', prefix] = range.split('/');
  return [net, ipv4Of(numberOf(net) + 2 ** (32 - Number(prefix)) - 1)];
}
const ipv4 = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: -1, max: 1 }))
    .map(([edge, step]) => ipv4Of((edge + step + 2 ** 32) % 2 ** 32)),
);

const part = fc.oneof(
  fc.constantFrom(0, 0, 1, 0x5efe, 0xffff),
  fc.integer({ min: 0, max: 0xffff }),
);
const ipv6 = fc
  .tuple(
    fc.constantFrom(
      ...[0, 0x64, 0x100, 0x2000, 0x2001, 0x2002, 0x2606, 0x2a00, 0x3fff, 0x4000, 0x5f00],
      ...[0xfc00, 0xfd00, 0xfe80, 0xfec0, 0xff02],
    ),
    fc.oneof(fc.constantFrom(0, 1, 2, 0x20, 0x1ff, 0x200, 0xdb8, 0xff9b, 0x0ec2), part),
    fc.array(part, { minLength: 6, maxLength: 6 }),
  )
  .map(([first, second, rest]) => [first, second, ...rest]);

/** Different spellings of the same IPv6 address. */
const spellings: Array<(parts: readonly number[]) => string> = [
  toIPv6,
  (parts) => toIPv6(parts).toUpperCase(),
  (parts) => parts.map((part) => part.toString(16).padStart(4, '0')).join(':'),
  (parts) => new URL(`http://[${toIPv6(parts)}]/`).hostname.slice(1, -1),
  (parts) => {
    const [high = 0, low = 0] = parts.slice(6);
    const last = toIPv4([high >> 8, high & 255, low >> 8, low & 255]);
    return `${toIPv6(parts.slice(0, 6))}:${last}`;
  },
];

const isAllowed = (address: string) => isAddressAllowed(address, { allowPrivate: false });
const endsInMetadata = (parts: readonly number[]) => {
  const [high = 0, low = 0] = parts.slice(6);
  return METADATA_V4.includes(toIPv4([high >> 8, high & 255, low >> 8, low & 255]));
};

describe('reachedAddress, whatever the host', () => {
  fuzz(
    'is the IPv4 address of what only carries it, and any other host as it is',
    fc.tuple(ipv4, fc.constantFrom(...Object.keys(EMBEDDINGS)), wildHost),
    ([address, form, text]) => {
      const host = normalizeHost(EMBEDDINGS[form]?.(address) ?? '') ?? '';
      const isTransparent = transparent.check(host);
      expect(reachedAddress(host)).toBe(isTransparent ? address : host);
      const other = normalizeHost(text);
      if (other !== null && !other.includes(':')) expect(reachedAddress(other)).toBe(other);
    },
  );
});

describe('isAddressAllowed, whatever the address', () => {
  fuzz(
    'says of IPv4 what the registry says, both ways',
    ipv4,
    (address) => {
      expect(isAllowed(address)).toBe(!v4.check(address));
      expect(isAddressAllowed(address, { allowPrivate: true })).toBe(
        !METADATA_V4.includes(address),
      );
    },
    { runs: { check: 200, long: 200_000 } },
  );

  fuzz(
    'says of IPv6 at most what the registry says, in every spelling',
    ipv6,
    (parts) => {
      const plain = toIPv6(parts);
      const verdicts = spellings.map((spell) => isAllowed(spell(parts)));
      expect(new Set(verdicts).size).toBe(1);
      if (v6.check(plain) && !transparent.check(plain)) {
        expect(verdicts[0]).toBe(false);
      }
      if (endsInMetadata(parts)) {
        for (const spell of spellings) {
          expect(isAddressAllowed(spell(parts), { allowPrivate: true })).toBe(false);
        }
      }
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz('lets every public IPv6 address pass that carries no IPv4 address', ipv6, (parts) => {
    const plain = toIPv6(parts);
    const isPublic = !v6.check(plain);
    const isISATAP = (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
    if (!isPublic || isISATAP || endsInMetadata(parts)) return;
    expect(classifyAddress(plain)).toEqual({ kind: 'public' });
  });

  fuzz(
    'denies every denied IPv4 address in every embedding, and metadata for good',
    fc.tuple(ipv4, fc.constantFrom(...Object.keys(EMBEDDINGS))),
    ([address, form]) => {
      const embedded = EMBEDDINGS[form]?.(address) ?? '';
      expect(isIPv6(embedded)).toBe(true);
      if (v4.check(address)) expect(isAllowed(embedded)).toBe(false);
      const isMetadata = METADATA_V4.includes(address);
      if (isMetadata) expect(isAddressAllowed(embedded, { allowPrivate: true })).toBe(false);
      expect(isMetadataHost(embedded)).toBe(isMetadata || endsInMetadata(partsOf(embedded)));
      if (form.startsWith('mapped') || form === 'NAT64') {
        expect(isAllowed(embedded)).toBe(isAllowed(address));
      }
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'takes nothing for an address that the system does not',
    fc.oneof(wildHost, fc.string()),
    (text) => {
      const { kind } = classifyAddress(text);
      if (kind !== 'invalid') expect(isIP(text)).not.toBe(0);
      if (isIPv4(text)) expect(kind).not.toBe('invalid');
      if (isIPv6(text) && !text.includes('%')) expect(kind).not.toBe('invalid');
      isMetadataHost(text);
    },
  );

  fuzz('says of IPv6 as the library writes it what it says in full', fc.ipV6(), (address) => {
    expect(classifyAddress(address)).toEqual(classifyAddress(toIPv6(partsOf(address))));
  });

  growsLinearly('takes linear time', (size) => `${'1:'.repeat(size / 2)}1`, classifyAddress);
});

/** The eight parts of an address, as the system reads them. */
function partsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const read = (text: string) =>
    text === '' ? [] : text.split(':').map((part) => Number.parseInt(part, 16));
  if (tail === undefined) return read(head);
  const zeros = 8 - read(head).length - read(tail).length;
  return [...read(head), ...Array.from({ length: zeros }, () => 0), ...read(tail)];
}
