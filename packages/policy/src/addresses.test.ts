import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  type AddressKind,
  classifyAddress,
  isAddressAllowed,
  isMetadataHost,
} from './addresses.js';
import { EMBEDDINGS } from './fixtures/address-embeddings.js';

const METADATA = [
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

describe('classifyAddress', () => {
  const table: [string, AddressKind][] = [
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['223.255.255.255', 'public'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['169.254.0.1', 'link-local'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['2606:4700:4700::1111', 'public'],
    ['2a00:1450:4001:81b::200e', 'public'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['fe90::1', 'link-local'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'private'],
    ['fc00::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['ff02::1', 'multicast'],
    ['100::1', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['2001:2::1', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['::8.8.8.8', 'reserved'],
    ['::808:808', 'reserved'],
    ['::127.0.0.1', 'loopback'],
    ['2002:808:808::', 'reserved'],
    ['::ffff:8.8.8.8', 'public'],
    ['64:ff9b::808:808', 'public'],
    ['2a00:1450:1:1:0:5efe:808:808', 'public'],
    ['fd00:ec2::254', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['FD20:CE:0:0:0:0:0:254', 'metadata'],
    ['fe80::a9fe:a9fe', 'metadata'],
    ['fd00:c1::a9fe:a9fe', 'metadata'],
    ['fd00:100::100:200', 'metadata'],
    ['fd00:a9fe:a9fe::1', 'metadata'],
    ['fd00:42::42', 'metadata'],
    ['fd00:ec2::23', 'metadata'],
    ['fd00:100::100:201', 'private'],
    ['fe80::1%eth0', 'invalid'],
    ['::1%1', 'invalid'],
    ['127.1', 'invalid'],
    ['0x7f000001', 'invalid'],
    ['2130706433', 'invalid'],
    ['0177.0.0.1', 'invalid'],
    ['127.0.0.1 ', 'invalid'],
    ['[::1]', 'invalid'],
    ['example.com', 'invalid'],
    ['', 'invalid'],
  ];
  it.each(table)('of %j is %s', (address, kind) => {
    expect(classifyAddress(address).kind).toBe(kind);
  });

  it.each(METADATA)('of %s is metadata', (address) => {
    expect(classifyAddress(address).kind).toBe('metadata');
  });

  it('names the embedded address that decided', () => {
    expect(classifyAddress('::ffff:7f00:1')).toEqual({ kind: 'loopback', embedded: '127.0.0.1' });
    expect(classifyAddress('2002:a9fe:a9fe::')).toEqual({
      kind: 'metadata',
      embedded: '169.254.169.254',
    });
  });
});

describe('isAddressAllowed', () => {
  it('opens private addresses, but no metadata address, with allowPrivate', () => {
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.0.1', '::1', 'fd00::1', '8.8.8.8']) {
      expect(isAddressAllowed(address, { allowPrivate: true })).toBe(true);
    }
    for (const address of [...METADATA, 'fd00:ec2::254', 'fd20:ce::254', 'nonsense']) {
      expect(isAddressAllowed(address, { allowPrivate: true })).toBe(false);
    }
  });

  const spellings = METADATA.flatMap((ipv4) =>
    Object.entries(EMBEDDINGS).map(([form, embed]) => [embed(ipv4), form, ipv4] as const),
  );
  it.each(spellings)('denies %s (%s of %s) with allowPrivate', (address) => {
    expect(ipaddr.IPv6.isValid(address)).toBe(true);
    expect(isAddressAllowed(address, { allowPrivate: true })).toBe(false);
  });
});

describe('isMetadataHost', () => {
  it.each([
    ['metadata.google.internal', true],
    ['METADATA.google.internal.', true],
    ['metadata', true],
    ['metadata.goog', true],
    ['metadata.exoscale.com', true],
    ['api.metadata.cloud.ibm.com', true],
    ['instance-data', true],
    ['rancher-metadata', true],
    ['[fd00:100::100:200]', true],
    ['169.254.169.254', true],
    ['0xa9fea9fe', true],
    ['2852039166', true],
    ['[::ffff:a9fe:a9fe]', true],
    ['fd00:ec2::254', true],
    ['metadata.example.com', false],
    ['google.internal', false],
    ['127.0.0.1', false],
    ['a b', false],
  ])('of %j is %j', (input, expected) => {
    expect(isMetadataHost(input)).toBe(expected);
  });
});
