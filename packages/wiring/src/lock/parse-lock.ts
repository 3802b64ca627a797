import { EthosError } from '@ethosagent/types';
import type { z } from 'zod';
import { byImportance, parseYamlMapping, type YamlMapping } from '../yaml-mapping.js';
import { formatLock } from './format-lock.js';
import { lockSchema } from './lock-schema.js';
import { LOCK_VERSION, type ReachLock } from './reach-lock.js';

const MAX_CHARS = 8_000_000;
const MAX_PROBLEMS = 20;
const ANEW = 'write it anew with "ethosagent lock", and review what changes';

/**
 * Reads the text of a lock. Refuses a text that is not exactly as `formatLock` writes it: it may
 * have been edited, or may look different to a reader than to this function.
 *
 * @param file the name of the lock in messages
 * @returns the lock, with portable paths
 * @throws `CONFIG_INVALID` with the line of the problem
 */
export function parseLock(source: string, file: string): ReachLock {
  const invalid = (message: string) => new EthosError('CONFIG_INVALID', message);
  if (source.length > MAX_CHARS) throw invalid(`${file}: is larger than ${MAX_CHARS} characters`);
  const text = source.replaceAll('\r\n', '\n');
  const { lines, mapping, problems } = parseYamlMapping(text);
  const found = [...problems];
  const parsed = mapping && lockSchema().safeParse(mapping.value);
  if (mapping !== undefined && found.length === 0) {
    found.push(...problemsOf(mapping, parsed?.error?.issues ?? []));
  }
  if (found.length > 0 || parsed?.data === undefined) {
    const told = found
      .sort(byImportance)
      .slice(0, MAX_PROBLEMS)
      .map(({ offset, message }) => {
        const { line, col } = lines.linePos(offset);
        return `${file}:${line}:${col}: ${message}`;
      });
    throw invalid([...told, `${file} is no reach lock that can be read; ${ANEW}`].join('\n'));
  }
  const { version: _, ...lock } = parsed.data;
  const written = formatLock(lock);
  if (written !== text) {
    const line = firstOtherLine(written, text);
    throw invalid(
      `${file}:${line}: is not as "ethosagent lock" writes it: it was edited, or merged; ${ANEW}`,
    );
  }
  return lock;
}

function problemsOf(mapping: YamlMapping, issues: readonly z.core.$ZodIssue[]) {
  const { version }: { version?: unknown } = Object(mapping.value);
  if (version !== LOCK_VERSION) {
    const found = version === undefined ? 'there is none' : `this is ${JSON.stringify(version)}`;
    return [
      {
        offset: mapping.offsetOf(['version']),
        message: `version: only version ${LOCK_VERSION} can be read, and ${found}`,
      },
    ];
  }
  return issues.map(({ path, message }) => ({
    offset: mapping.offsetOf(path),
    message: `${path.map(String).join('.')}: ${message}`,
  }));
}

function firstOtherLine(written: string, text: string): number {
  const expected = written.split('\n');
  const index = text.split('\n').findIndex((line, at) => line !== expected[at]);
  return index < 0 ? expected.length : index + 1;
}
