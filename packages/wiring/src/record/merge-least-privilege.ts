import { isDeepStrictEqual } from 'node:util';
import { parseHostPattern } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import { type Document, isCollection, isScalar, isSeq, parseDocument, YAMLSeq } from 'yaml';
import { pathVariables } from '../personality-file.js';
import { parsePersonality } from '../personality-parse.js';
import { resolveReachPath } from '../substitute.js';
import { keepLines } from './keep-lines.js';
import type { KeptList, LeastEntry, LeastPrivilege } from './least-privilege.js';

/** The absolute paths that `${ETHOS_HOME}` and `${CWD}` stand for. */
export interface MergeOptions {
  home: string;
  cwd: string;
}

interface ListToSet {
  key: KeptList['key'];
  entries: readonly LeastEntry[];
  /** The same for entries with the same meaning. */
  meaningOf(text: string): string;
  /** Whether the list must stay even if it is empty: without it, more would be allowed. */
  staysEmpty: boolean;
}

const TEXT = { lineWidth: 0 } as const;

/**
 * Writes the lists that a run needs into the text of a personality's file. Comments, order and
 * everything else stay. An entry that stays keeps its spelling. If nothing changes, the text is the
 * same.
 *
 * @param text the file as it is now
 * @param least the result of `deriveLeastPrivilege`
 * @param options the home and the working directory, for paths that begin with variables
 * @returns the new text
 * @throws `CONFIG_INVALID` for an invalid file, or one that can't be changed in this way
 */
export function mergeIntoPersonality(
  text: string,
  least: LeastPrivilege,
  { home, cwd }: MergeOptions,
): string {
  const variables = pathVariables({ home, cwd }, least.personality);
  const parse = (yaml: string) =>
    parsePersonality(yaml, { file: 'config.yaml', id: least.personality, variables });
  const before = parse(text);
  const document = parseDocument(text, { schema: 'core', merge: false });
  const pathOf = (entry: string) => {
    const read = resolveReachPath(entry, variables);
    return read.ok ? read.path : entry;
  };
  const hostText = (entry: string) => parseHostPattern(entry)?.text ?? entry;
  const lists: ListToSet[] = [
    { key: 'toolset', entries: least.toolset, meaningOf: String, staysEmpty: true },
    { key: 'fs_reach.read', entries: least.read, meaningOf: pathOf, staysEmpty: false },
    { key: 'fs_reach.write', entries: least.write, meaningOf: pathOf, staysEmpty: false },
    { key: 'safety.network.allow', entries: least.allow, meaningOf: hostText, staysEmpty: true },
  ];
  const open = lists.filter(({ key }) => !least.kept.some((each) => each.key === key));
  // Brackets are written in the owner's style, as in the lists that change.
  const brackets = new Map(open.map(({ key }) => [key, bracketAt(text, { document, key })]));
  const changed = open.filter((list) => setList(document, list));
  if (changed.length === 0) return text;
  const flowCollectionPadding = !changed.some(({ key }) => /^[[{]\S/.test(brackets.get(key) ?? ''));
  const merged = keepLines(text, document.toString({ ...TEXT, flowCollectionPadding }));
  assertMeant(before, parse(merged), least);
  return merged;
}

/** The outermost bracket on the way to a list, with the character after it. */
function bracketAt(
  text: string,
  { document, key }: { document: Document; key: KeptList['key'] },
): string | undefined {
  const path = key.split('.');
  const found = path
    .map((_, depth) => document.getIn(path.slice(0, depth + 1), true))
    .find((node) => isCollection(node) && node.flow === true);
  const [at] = (isCollection(found) && found.range) || [];
  return at === undefined ? undefined : text.slice(at, at + 2);
}

/** @returns whether anything changed */
function setList(document: Document, { key, entries, meaningOf, staysEmpty }: ListToSet): boolean {
  const path = key.split('.');
  const found = document.getIn(path, true);
  const items = isSeq(found) ? found.items : [];
  const meanings = items.map((item) =>
    isScalar(item) ? meaningOf(String(item.value)) : undefined,
  );
  const wanted = new Set(entries.map(({ value }) => meaningOf(value)));
  const isSame =
    isSeq(found) &&
    items.length === wanted.size &&
    meanings.every((each) => wanted.has(each ?? ''));
  if (isSame) return false;
  if (entries.length === 0 && !staysEmpty) {
    if (found === undefined) return false;
    document.deleteIn(path);
    dropEmpty(document, path.slice(0, -1));
    return true;
  }
  const seq = isSeq(found) ? found : new YAMLSeq(document.schema);
  const taken = new Set<string>();
  const stay = items.filter((_, index) => {
    const meaning = meanings[index];
    if (meaning === undefined || !wanted.has(meaning) || taken.has(meaning)) return false;
    taken.add(meaning);
    return true;
  });
  const added = entries
    .filter(({ value }) => !taken.has(meaningOf(value)))
    .map((entry) => {
      const node = document.createNode(entry.text);
      node.comment = commentOf(entry);
      return node;
    });
  seq.items = [...stay, ...added];
  seq.flow = seq.items.length === 0 || (seq.flow === true && added.length === 0);
  if (!isSeq(found)) document.setIn(path, seq);
  return true;
}

function commentOf({ accesses, rule }: LeastEntry): string {
  const count = `${accesses} ${accesses === 1 ? 'use' : 'uses'}`;
  return ` ${rule === undefined ? count : `${count}; ${rule}`}`;
}

/** Removes a mapping without keys: `fs_reach:` alone would be invalid. */
function dropEmpty(document: Document, path: readonly string[]): void {
  if (path.length === 0) return;
  const left: unknown = document.getIn(path);
  if (Object(left) === left && 'items' in Object(left) && Object(left).items.length === 0) {
    document.deleteIn(path);
  }
}

/** Checks that the written text means what was derived, and that nothing else has changed. */
function assertMeant(
  before: PersonalityConfig,
  after: PersonalityConfig,
  least: LeastPrivilege,
): void {
  const isKept = (key: KeptList['key']) => least.kept.some((each) => each.key === key);
  const expected = (key: KeptList['key'], entries: readonly LeastEntry[], today?: string[]) =>
    isKept(key) ? today : entries.map(({ value }) => value);
  const isSame = (found: readonly string[] | undefined, wanted: readonly string[] | undefined) =>
    isDeepStrictEqual([...(found ?? [])].sort(), [...(wanted ?? [])].sort());
  const hostsOf = (hosts: readonly string[] | undefined) =>
    hosts?.map((host) => parseHostPattern(host)?.text ?? host);
  const isMeant =
    isSame(after.toolset, expected('toolset', least.toolset, before.toolset)) &&
    isSame(after.fs_reach?.read, expected('fs_reach.read', least.read, before.fs_reach?.read)) &&
    isSame(
      after.fs_reach?.write,
      expected('fs_reach.write', least.write, before.fs_reach?.write),
    ) &&
    isSame(
      hostsOf(after.safety?.network?.allow),
      hostsOf(expected('safety.network.allow', least.allow, before.safety?.network?.allow)),
    ) &&
    isDeepStrictEqual(withoutLists(before), withoutLists(after));
  if (!isMeant) {
    throw new EthosError(
      'CONFIG_INVALID',
      'the file of the personality can not be changed without changing what else it says; change its lists by hand',
    );
  }
}

function withoutLists({ toolset: _, fs_reach: __, safety, ...rest }: PersonalityConfig): unknown {
  const { network, ...others } = safety ?? {};
  const { allow: ___, ...hosts } = network ?? {};
  return { ...rest, safety: { ...others, network: hosts } };
}
