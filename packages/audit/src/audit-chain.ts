import { randomBytes } from 'node:crypto';
import { EthosError } from '@ethosagent/types';
import type { AuditReport } from './audit-report.js';
import { type ChainHash, chainedLine, chainHash, firstHash, type Link } from './chain.js';
import { ChainWalk } from './chain-walk.js';
import { type Head, headOf, headText, type NoHead } from './head-file.js';
import { MAX_PROBLEMS, WITHOUT_KEY } from './verify-audit-log.js';

/** A line of a chain, for a sink that keeps it. */
export interface AuditChainLine {
  /** From 1, without gaps. */
  seq: number;
  /** The bytes to keep, as they are. */
  bytes: Uint8Array;
  /** The head of the chain with this line, to be kept beside the lines instead of the one before. */
  head: string;
}

/**
 * Ties events to one another as the log of `JsonlAuditSink` does, for a sink that keeps them elsewhere.
 * Each writer begins a chain of its own.
 */
export class AuditChain {
  /** Of this chain, and of no other: 32 hexadecimal digits. */
  readonly id = randomBytes(16).toString('hex');
  readonly #hashOf: ChainHash;
  readonly #isKeyed: boolean;
  #newest: Link;

  /**
   * A new chain, with an id of its own.
   *
   * @param options `key`: with it, nobody without the key can write a line that verifies
   * @throws `CONFIG_INVALID` for a key of less than 16 bytes
   */
  constructor({ key }: { key?: string | Uint8Array } = {}) {
    this.#hashOf = chainHash(key);
    this.#isKeyed = key !== undefined;
    this.#newest = { seq: 0, hash: firstHash(this.id, this.#hashOf) };
  }

  /**
   * The next line of the chain.
   *
   * @param event plain data
   * @returns the line and the head after it, to be stored together
   */
  add(event: object): AuditChainLine {
    const line = chainedLine(event, this.#newest, {
      isFirst: this.#newest.seq === 0,
      hashOf: this.#hashOf,
    });
    const { seq, hash, bytes } = line;
    this.#newest = { seq, hash };
    const head = headText({ id: this.id, seq, hash, oldest: 1 }, this.#hashOf, this.#isKeyed);
    // Lines are stored one by one, without a line break.
    return { seq, bytes: bytes.subarray(0, -1), head };
  }
}

/** A chain to check. */
export interface VerifyAuditChainOptions {
  /** What problems call it. */
  name: string;
  /** The id that it is kept under. */
  id: string;
  /** The head that is kept now; asked before the first line and after the last. */
  readHead(): Promise<string | undefined>;
  /** The lines as they are kept, in the order of their `seq`. */
  lines: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The key that it was written with. */
  key?: string | Uint8Array;
}

/**
 * Checks a chain of `AuditChain` from its first line to its last. It may be written meanwhile.
 *
 * @param options the lines in their order, the head, and the key that they were written with
 * @returns what is wrong and what can't be told; `ok` when nothing is wrong
 * @throws `CONFIG_INVALID` for one that was written with a key when none is given
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
