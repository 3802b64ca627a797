import type { MemoryChange, MemoryProvider, MemorySection } from '@ethosagent/types';
import { afterAll, beforeAll } from 'vitest';

/** A memory provider to test. */
export interface MemoryUnderTest {
  memory: MemoryProvider;
  /** Closes the provider. */
  close?: () => void | Promise<void>;
}

/** Creates an empty provider that reads the time, in milliseconds, from `clock`. */
export type CreateMemory = (options: {
  clock: () => number;
}) => MemoryUnderTest | Promise<MemoryUnderTest>;

/** One provider for all tests of a suite. Each test uses scopes of its own. */
export class MemoryWorld {
  declare memory: MemoryProvider;
  /** The time that the provider reads, in milliseconds. */
  now = 1_700_000_000_000;
  #scopes = 0;

  constructor(create: CreateMemory) {
    let subject: MemoryUnderTest;
    beforeAll(async () => {
      subject = await create({ clock: () => this.now });
      this.memory = subject.memory;
    });
    afterAll(() => subject.close?.());
  }

  /** A scope that no other test uses. */
  fresh(): string {
    return `personality:suite-${this.#scopes++}`;
  }

  /** Makes changes in a fresh scope. Returns the scope. */
  async made(...changes: MemoryChange[]): Promise<string> {
    const scope = this.fresh();
    for (const change of changes) await this.memory.change(scope, change);
    return scope;
  }

  async sectionsOf(scope: string): Promise<readonly MemorySection[]> {
    return (await this.memory.read(scope)).sections;
  }
}

export function add(section: string, text: string): MemoryChange {
  return { kind: 'add', section, text };
}
