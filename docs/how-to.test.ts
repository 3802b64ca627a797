import { join } from 'node:path';
import { validateRegistration } from '@ethosagent/core';
import { resolveAllowedHosts, resolveReach } from '@ethosagent/policy';
import type { ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { REPOSITORY, readPage } from './tooling/markdown.js';
import { type Cell, tablesOf } from './tooling/tables.js';

type Read = NonNullable<ToolCapabilities['fs_reach']>['read'];

function rowsOf(path: string): readonly (readonly [string, Cell, Cell, Cell])[] {
  const table = tablesOf(readPage(join(REPOSITORY, path))).find(
    ({ header }) => header[0] === 'tool declares',
  );
  return (table?.rows ?? []).map(([declared, allowed, gets]) => {
    if (!declared || !allowed || !gets) throw new Error(`${path}: a row lacks a cell`);
    return [[declared, allowed, gets].map(({ text }) => text).join(' | '), declared, allowed, gets];
  });
}

describe('docs/how-to/add-a-network-tool.md', () => {
  it.each(rowsOf('docs/how-to/add-a-network-tool.md'))(
    'is right that %s',
    (_, declared, allowed, gets) => {
      const lists = declared.text === 'anything' ? [['api.example.com'], ['*']] : [declared.code];
      const allow = allowed.text === 'no list' ? undefined : allowed.code;
      const found = lists.map((hosts) => resolveAllowedHosts(hosts, allow));
      expect(found).toEqual(lists.map(() => gets.code));
    },
  );
});

describe('docs/how-to/add-a-filesystem-tool.md', () => {
  const listed = (code: string): Read => JSON.parse(code.replaceAll("'", '"'));

  it.each(rowsOf('docs/how-to/add-a-filesystem-tool.md'))(
    'is right that %s',
    (_, declared, allowed, gets) => {
      const forms = declared.code.length > 0 ? declared.code : ["['/data']", "'from-personality'"];
      const personality = allowed.code.map(listed).find((list) => Array.isArray(list));
      for (const form of forms) {
        const read = listed(form);
        expect(resolveReach(read, personality)).toEqual(gets.code);
        const errors = validateRegistration(
          { name: 'shown', capabilities: { fs_reach: { ...(read !== undefined && { read }) } } },
          personality === undefined ? {} : { fs_reach: { read: personality } },
        );
        const isTold = gets.text.includes('validation error') && Array.isArray(read);
        expect(errors).toHaveLength(isTold ? 1 : 0);
      }
    },
  );
});
