import { parseSearchQuery, searchSnippet } from '@ethosagent/policy';
import type { MemoryMatch, MemorySection, MemoryVersion } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import { LIMIT } from './limit.js';
import { prepareIndexSearch } from './search-query.js';
import { memoryFact, prepareSectionWords, SECTION_INDEX } from './section-words.js';

/** A memory that was changed at least once. */
interface MemoryRow {
  id: number;
  revision: number;
}

type SectionRow = MemorySection & { id: number; position: number };

/** Prepares the statements on memories, their sections and their versions. */
export function prepareMemoryTable(db: Connection) {
  const find = db.prepare<[scopeId: string], MemoryRow>(
    'SELECT id, revision FROM memory WHERE scope_id = ?',
  );
  const add = db.prepare<[scopeId: string]>(
    'INSERT INTO memory (scope_id, revision) VALUES (?, 0)',
  );
  const setRevision = db.prepare<[revision: number, id: number]>(
    'UPDATE memory SET revision = ? WHERE id = ?',
  );
  const sections = db.prepare<[memory: number], SectionRow>(
    `SELECT id, position, ${db.text('heading')} AS heading, ${db.text('text')} AS text
     FROM section WHERE memory = ? ORDER BY position`,
  );
  const addSection = db.prepare<[number, number, string, string]>(
    'INSERT INTO section (memory, position, heading, text) VALUES (?, ?, ?, ?)',
  );
  const moveSection = db.prepare<[position: number, id: number]>(
    'UPDATE section SET position = ? WHERE id = ?',
  );
  const removeSection = db.prepare<[id: number]>('DELETE FROM section WHERE id = ?');
  const words = prepareSectionWords(db);
  const addVersion = db.prepare<[number, number, number, string]>(
    'INSERT INTO version (memory, revision, replaced_at, sections) VALUES (?, ?, ?, ?)',
  );
  const trimVersions = db.prepare<[memory: number, newest: number]>(
    'DELETE FROM version WHERE memory = ? AND revision <= ?',
  );
  const versions = db.prepare<
    [memory: number, limit: number],
    { revision: number; replacedAt: number; sections: string }
  >(
    `SELECT revision, replaced_at AS replacedAt, ${db.text('sections')} AS sections FROM version
     WHERE memory = ? ORDER BY revision DESC ${LIMIT}`,
  );
  const section = db.prepare<[id: number], MemorySection>(
    `SELECT ${db.text('heading')} AS heading, ${db.text('text')} AS text FROM section WHERE id = ?`,
  );
  const search = prepareIndexSearch(db, SECTION_INDEX);

  /** Writes the sections that differ. Unchanged sections keep their place in the index. */
  function writeSections(memory: number, after: readonly MemorySection[]): void {
    const before = new Map(sections.all(memory).map((row) => [row.heading, row]));
    const kept = new Set<number>();
    const added: { section: MemorySection; position: number }[] = [];
    after.forEach((section, position) => {
      const row = before.get(section.heading);
      if (row === undefined || row.text !== section.text) {
        added.push({ section, position });
        return;
      }
      kept.add(row.id);
      if (row.position !== position) moveSection.run(position, row.id);
    });
    for (const { id } of before.values()) {
      if (kept.has(id)) continue;
      words.remove(id);
      removeSection.run(id);
    }
    for (const { section, position } of added) {
      const { heading, text } = section;
      const { lastInsertRowid } = addSection.run(memory, position, heading, text);
      words.add(lastInsertRowid, { memory, heading, text });
    }
  }

  return {
    find(scopeId: string): MemoryRow | undefined {
      return find.get(scopeId);
    },
    sections(memory: number): MemorySection[] {
      return sections.all(memory).map(({ heading, text }) => ({ heading, text }));
    },
    /**
     * Replaces the sections, and keeps the earlier ones as a version. The caller must run it in a
     * transaction.
     */
    replace(
      scopeId: string,
      { before, after }: Record<'before' | 'after', readonly MemorySection[]>,
      { now, maxVersions }: { now: number; maxVersions: number },
    ): number {
      const { id, revision } = find.get(scopeId) ?? {
        id: Number(add.run(scopeId).lastInsertRowid),
        revision: 0,
      };
      addVersion.run(id, revision, now, JSON.stringify(before));
      trimVersions.run(id, revision - maxVersions);
      writeSections(id, after);
      setRevision.run(revision + 1, id);
      return revision + 1;
    },
    versions(memory: number, limit: number): MemoryVersion[] {
      return versions.all(memory, limit).map(({ revision, replacedAt, sections }) => ({
        revision: String(revision),
        replacedAt,
        sections: JSON.parse(sections),
      }));
    },
    search(memory: number, query: string, limit: number): MemoryMatch[] {
      const terms = parseSearchQuery(query);
      if (terms.length === 0) return [];
      return search({ terms, facts: [memoryFact(memory)], limit, offset: 0 }).flatMap(({ id }) => {
        const found = section.get(id);
        if (found === undefined) return [];
        return [{ heading: found.heading, snippet: searchSnippet(found.text, terms) }];
      });
    },
  };
}
