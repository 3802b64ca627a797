import { randomUUID } from 'node:crypto';
import { lstatSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, mcpServerPart } from '@ethosagent/policy';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { usageError } from './cli-error.js';

const KEYS = [['mcpServers'], ['servers'], ['mcp', 'servers']];
const EMPTY = '{\n  "mcpServers": {}\n}\n';
const OWNER_ONLY = 0o600;

/** The `mcp.json` of a home. People write it by hand, so an edit does not change the rest. */
export class McpFile {
  readonly path: string;
  readonly #text: string;
  readonly #stat: Stats | undefined;
  readonly #key: string[];

  /**
   * @throws `CONFIG_INVALID` if it can't be read or is invalid: what is not understood is not
   * edited
   */
  static async open(home: string): Promise<McpFile> {
    const path = join(home, 'mcp.json');
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isFile())
      throw usageError(`${path} is no file; edit it by hand`);
    const text = stat === undefined ? EMPTY : readFileSync(path, 'utf8');
    await check(text, path);
    return new McpFile(path, text, stat);
  }

  private constructor(path: string, text: string, stat: Stats | undefined) {
    this.path = path;
    this.#text = text;
    this.#stat = stat;
    const value: unknown = parse(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
    this.#key = KEYS.find((key) => isObject(at(value, key))) ?? ['mcpServers'];
    const servers = at(value, this.#key);
    this.names = isObject(servers) ? Object.keys(servers) : [];
  }

  /** The names of all servers, also those that are switched off. */
  readonly names: readonly string[];

  /** The server that has the same name as `name` in the names of tools. */
  sameAs(name: string): string | undefined {
    return this.names.find((known) => mcpServerPart(known) === mcpServerPart(name));
  }

  /**
   * Writes or removes a server. @throws `CONFIG_INVALID` if the result would be invalid, or the
   * file has changed
   */
  async set(name: string, entry: Record<string, unknown> | undefined): Promise<void> {
    const mark = this.#text.startsWith('\ufeff') ? '\ufeff' : '';
    const text = this.#text.slice(mark.length);
    const formattingOptions = {
      insertSpaces: !/^\t/m.test(text),
      tabSize: /^( +)\S/m.exec(text)?.[1]?.length ?? 2,
      eol: text.includes('\r\n') ? '\r\n' : '\n',
    };
    const edits = modify(text, [...this.#key, name], entry, { formattingOptions });
    const edited = mark + applyEdits(text, edits);
    await check(edited, this.path);
    this.#replace(edited);
  }

  /** A concurrent reader sees the old file or the new one. */
  #replace(text: string): void {
    const temporary = `${this.path}.${randomUUID()}`;
    try {
      writeFileSync(temporary, text, {
        flag: 'wx',
        mode: this.#stat === undefined ? OWNER_ONLY : this.#stat.mode & 0o777,
        flush: true,
      });
      const now = lstatSync(this.path, { throwIfNoEntry: false });
      const isSame =
        now?.ino === this.#stat?.ino &&
        (now === undefined || readFileSync(this.path, 'utf8') === this.#text);
      if (!isSame) throw usageError(`${this.path} was changed meanwhile; look at it and try again`);
      renameSync(temporary, this.path);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

function at(value: unknown, key: readonly string[]): unknown {
  return key.reduce<unknown>((found, part) => (isObject(found) ? found[part] : undefined), value);
}

async function check(text: string, path: string): Promise<void> {
  const { parseMcpConfig } = await import('@ethosagent/tools-mcp').catch((error: unknown) => {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw usageError('run "npm install @ethosagent/tools-mcp" in the project first');
  });
  parseMcpConfig(text, path);
}
