import { isListOf } from '@ethosagent/policy';
import type {
  MemoryChange,
  MemoryDocument,
  MemoryMatch,
  MemoryProvider,
  MemorySection,
  MemoryVersion,
} from '@ethosagent/types';
import { answerOf, isNumber, isRecord } from './check-answer.js';

const KIND = { code: 'STORE_UNAVAILABLE', name: 'the memory' } as const;

/** A provider that checks the answers of a backend, and gives its failures a code. */
export function checkedMemory(provider: MemoryProvider): MemoryProvider {
  return new CheckedMemory(provider);
}

class CheckedMemory implements MemoryProvider {
  readonly #provider: MemoryProvider;

  constructor(provider: MemoryProvider) {
    this.#provider = provider;
  }

  read(scopeId: string): Promise<MemoryDocument> {
    return answerOf({ kind: KIND, method: 'read', isAnswer: isDocument }, () =>
      this.#provider.read(scopeId),
    );
  }

  change(
    scopeId: string,
    change: MemoryChange,
    opts?: { expectedRevision?: string },
  ): Promise<MemoryDocument> {
    return answerOf({ kind: KIND, method: 'change', isAnswer: isDocument }, () =>
      this.#provider.change(scopeId, change, opts),
    );
  }

  async search(scopeId: string, query: string, opts?: { limit?: number }): Promise<MemoryMatch[]> {
    const ask = () => this.#provider.search(scopeId, query, opts);
    return upTo(
      opts?.limit,
      await answerOf({ kind: KIND, method: 'search', isAnswer: isListOf(isMatch) }, ask),
    );
  }

  async versions(scopeId: string, opts?: { limit?: number }): Promise<MemoryVersion[]> {
    const ask = () => this.#provider.versions(scopeId, opts);
    return upTo(
      opts?.limit,
      await answerOf({ kind: KIND, method: 'versions', isAnswer: isListOf(isVersion) }, ask),
    );
  }
}

function upTo<T>(limit: number | undefined, answers: T[]): T[] {
  return limit === undefined ? answers : answers.slice(0, Math.max(0, limit));
}

function isSection(value: unknown): value is MemorySection {
  return isRecord(value) && typeof value.heading === 'string' && typeof value.text === 'string';
}

function isDocument(value: unknown): value is MemoryDocument {
  return (
    isRecord(value) &&
    isListOf(isSection)(value.sections) &&
    typeof value.revision === 'string' &&
    isNumber(value.sizeChars)
  );
}

function isMatch(value: unknown): value is MemoryMatch {
  return isRecord(value) && typeof value.heading === 'string' && typeof value.snippet === 'string';
}

function isVersion(value: unknown): value is MemoryVersion {
  return (
    isRecord(value) &&
    typeof value.revision === 'string' &&
    isNumber(value.replacedAt) &&
    isListOf(isSection)(value.sections)
  );
}
