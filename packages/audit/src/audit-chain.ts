import { randomBytes } from 'node:crypto';
import { EthosError } from '@ethosagent/types';
import type { AuditReport } from './audit-report.js';
import { type ChainHash, chainedLine, chainHash, firstHash, type Link } from './chain.js';
import { ChainWalk } from './chain-walk.js';
import { type Head, headOf, headText, type NoHead } from './head-file.js';
import { MAX_PROBLEMS, WITHOUT_KEY } from './verify-audit-log.js';

/** A line of a chain, for a sink to store. */
export interface AuditChainLine {
  /** The number of the line, from 1, without gaps. */
  seq: number;
  /** The bytes of the line, without a line break. Store them unchanged. */
  bytes: Uint8Array;
  /** The head of the chain after this line. It replaces the stored head. */
  head: string;
}

/**
 * Links events by hashes, as the log of `JsonlAuditSink` does, for a sink that stores them
 * elsewhere. Each writer begins a chain of its own.
 */
export class AuditChain {
  /** The id of this chain, which no other chain has: 32 hexadecimal digits. */
  readonly id = randomBytes(16).toString('hex');
  readonly #hashOf: ChainHash;
  readonly #isKeyed: boolean;
  #newest: Link;

  /**
   * Begins a chain with an id of its own.
   *
   * @param options `key`: 16 bytes or more; only somebody who has the key can write a line that
   * passes the check
   * @throws `CONFIG_INVALID` for a key of less than 16 bytes
   */
  constructor({ key }: { key?: string | Uint8Array } = {}) {
    this.#hashOf = chainHash(key);
    this.#isKeyed = key !== undefined;
    this.#newest = { seq: 0, hash: firstHash(this.id, this.#hashOf) };
  }

  /**
   * Adds an event to the chain.
   *
   * @param event plain data that can be written as JSON
   * @returns the line of the event and the head after it; store both together
   */
  add(event: object): AuditChainLine {
    const json = JSON.stringify(event);
    const hashOf = this.#hashOf;
    const { seq, hash, bytes } = chainedLine(json, this.#newest, {
      isFirst: this.#newest.seq === 0,
      hashOf,
    });
    this.#newest = { seq, hash };
    // Lines are stored one by one, without a line break.
    const line = bytes.subarray(0, -1);
    const newest = { id: this.id, seq, hash, oldest: 1 };
    if (!this.#isKeyed) return { seq, bytes: line, head: headText(newest, hashOf, false) };
    // With a key, a head costs a hash, and of lines that are stored together only the last one is
    // stored. So it is made when it is read.
    return {
      seq,
      bytes: line,
      get head() {
        return headText(newest, hashOf, true);
      },
    };
  }
}

/** A chain to check, and its key. */
export interface VerifyAuditChainOptions {
  /** The name of the chain in problems and errors. */
  name: string;
  /** The id under which the chain is stored. */
  id: string;
  /** Returns the stored head. It is called before the first line and after the last one. */
  readHead(): Promise<string | undefined>;
  /** The stored bytes of the lines, in the order of their `seq`. */
  lines: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The key that the chain was written with. */
  key?: string | Uint8Array;
}

/**
 * Checks a chain of `AuditChain` from its first line to its last. A sink may write it meanwhile.
 *
 * @param options the lines in their order, the head, and the key that they were written with
 * @returns the problems that were found, and what the check can't detect; `ok` if there is no
 * problem
 * @throws `CONFIG_INVALID` if the chain was written with a key and none is given, or if the given
 * key has less than 16 bytes
 */
export async function verifyAuditChain(options: VerifyAuditChainOptions): Promise<AuditReport> {
  const { name, id, lines, key } = options;
  const hashOf = chainHash(key);
  const isKeyed = key !== undefined;
  const report: AuditReport = {
    ok: true,
    events: 0,
    problems: [],
    cannotTell: isKeyed ? [] : [...WITHOUT_KEY],
  };
  const walk = new ChainWalk(name, hashOf, (problem) => {
    report.ok = false;
    if (report.problems.length < MAX_PROBLEMS) report.problems.push(problem);
  });
  const headNow = async (): Promise<Head | NoHead> => {
    const head = headOf((await options.readHead()) ?? '', hashOf, isKeyed);
    if (head === 'keyed') {
      throw new EthosError('CONFIG_INVALID', `${name} was written with a key; give that key`);
    }
    return head;
  };
  const head = await headNow();
  // A head with another id belongs to another chain, so this one is a copy.
  walk.start(head, typeof head !== 'string' && head.id !== id);
  let number = 0;
  for await (const line of lines) {
    number += 1;
    walk.line(name, number, Buffer.from(line));
  }
  walk.end(await headNow());
  report.events = walk.events;
  return report;
}
