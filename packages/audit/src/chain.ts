import { createHash, createHmac, createSecretKey, hash } from 'node:crypto';
import { EthosError } from '@ethosagent/types';

const SHORTEST_KEY_BYTES = 16;
const HASH_LENGTH = 64;
const END_LENGTH = ',"hash":""}'.length + HASH_LENGTH;
const END = /^,"hash":"([0-9a-f]{64})"\}$/;

/** Computes a hash over the previous hash and a text: 64 hexadecimal digits. */
export type ChainHash = (previous: string, text: string | Uint8Array) => string;

/**
 * Returns the hash function of a chain: SHA-256, or HMAC-SHA-256 with a key.
 * @throws `CONFIG_INVALID` for a key of less than 16 bytes
 */
export function chainHash(key: string | Uint8Array | undefined): ChainHash {
  if (key === undefined) {
    return (previous, text) =>
      typeof text === 'string'
        ? hash('sha256', previous + text, 'hex')
        : createHash('sha256').update(previous).update(text).digest('hex');
  }
  const bytes = Buffer.from(key);
  if (bytes.length < SHORTEST_KEY_BYTES) {
    throw new EthosError(
      'CONFIG_INVALID',
      `the key of an audit log has ${SHORTEST_KEY_BYTES} bytes or more; make one with randomBytes(32)`,
    );
  }
  const secret = createSecretKey(bytes);
  return (previous, text) =>
    createHmac('sha256', secret).update(previous).update(text).digest('hex');
}

/**
 * Returns the hash function for a line, by the number of the line. For lines before `keyedFrom`,
 * that is the one without a key.
 */
export function hashAt(
  hashOf: ChainHash,
  keyedFrom: number | undefined,
): (seq: number) => ChainHash {
  if (keyedFrom === undefined) return () => hashOf;
  const plain = chainHash(undefined);
  return (seq) => (seq < keyedFrom ? plain : hashOf);
}

/**
 * Returns the hash that the first line of a log follows. It depends on the id of the log, which no
 * other log has.
 */
export function firstHash(id: string, hashOf: ChainHash): string {
  return hashOf('log', id);
}

/** The number and the hash of a line. */
export interface Link {
  seq: number;
  hash: string;
}

/** A line of the log, parsed. */
export interface ChainedLine extends Link {
  /** The text that the hash covers, together with the previous hash. */
  text: Uint8Array;
  /**
   * The hash of the line before. Only the first line of each file has it, so that a file can be
   * checked alone.
   */
  prev: string | undefined;
}

/**
 * Writes the line of an event, with its number and its hash.
 * @param json the event as the JSON of an object with fields
 * @param options.isFirst whether the line is the first of a file
 */
export function chainedLine(
  json: string,
  previous: Link,
  { isFirst, hashOf }: { isFirst: boolean; hashOf: ChainHash },
): Link & { bytes: Buffer } {
  const seq = previous.seq + 1;
  const prev = isFirst ? `,"prev":"${previous.hash}"` : '';
  const text = `${json.slice(0, -1)},"seq":${seq}${prev}`;
  const hash = hashOf(previous.hash, text);
  return { seq, hash, bytes: Buffer.from(`${text},"hash":"${hash}"}\n`) };
}

/** Parses a line without its line break; `undefined` for a line that no sink writes. */
export function parseLine(line: Buffer): ChainedLine | undefined {
  const end = END.exec(line.toString('latin1', Math.max(0, line.length - END_LENGTH)));
  const hash = end?.[1];
  if (hash === undefined) return undefined;
  try {
    const { seq, prev }: { seq?: unknown; prev?: unknown } = Object(
      JSON.parse(line.toString('utf8')),
    );
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) return undefined;
    const text = line.subarray(0, line.length - END_LENGTH);
    return { seq, hash, text, prev: typeof prev === 'string' ? prev : undefined };
  } catch {
    return undefined;
  }
}
