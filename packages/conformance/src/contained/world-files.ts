import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const LARGEST_FILE_TO_SEARCH = 8 * 1024 * 1024;
// The kernel records a read if the last read was not after the last change.
const READ_LONG_AGO = new Date(1_000_000_000_000);
const CHANGED_AFTER = new Date(1_100_000_000_000);

/** The folders of a world, all in one temporary folder. */
export class WorldFiles {
  readonly base: string;
  /** The folder that the tool may reach. */
  readonly reach: string;
  /**
   * The folder that it may not reach. Its files have the same names as those in the reach, and
   * contain the canary.
   */
  readonly outside: string;
  /** The folder for temporary files of processes. */
  readonly temporary: string;
  readonly home: string;
  /** Binaries that are found before those of the machine. */
  readonly binaries: string;
  /** The folder in which links are created before they are moved into the reach. */
  readonly aside: string;
  readonly #canary: string;
  readonly #notesReads: boolean;
  #outside = new Map<string, string>();

  /**
   * Creates the folders.
   * @param name part of every path
   * @param canary a text that occurs nowhere else
   */
  constructor(name: string, canary: string) {
    this.#canary = canary;
    this.base = realpathSync(mkdtempSync(join(tmpdir(), `contained-${name}-`)));
    this.reach = join(this.base, 'reach');
    // With the name in it, a relative path leads nowhere from any other working directory.
    this.outside = join(this.base, `outside-${name}`);
    this.temporary = join(this.base, 'tmp');
    this.home = join(this.base, 'home');
    this.binaries = join(this.base, 'bin');
    this.aside = join(this.base, 'aside');
    for (const folder of [this.temporary, this.home, this.binaries]) mkdirSync(folder);
    this.#notesReads = notesReads(join(this.base, 'probe'));
  }

  /** Creates the reach and the outside again. */
  lay(files: ReadonlyMap<string, Uint8Array>): void {
    for (const folder of [this.reach, this.outside, this.aside]) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
    }
    for (const [name, content] of files) {
      put(join(this.reach, name), content);
      put(join(this.outside, name), withCanary(content, this.#canary));
      // A file whose name is the canary, so that listing the folder is noticed.
      put(join(this.outside, dirname(name), `${this.#canary}.txt`), Buffer.from(this.#canary));
    }
    this.#outside = fingerprints(this.outside);
    this.#forgetReads();
  }

  /** Returns what was read outside since the last look; empty if the disk does not record reads. */
  outsideReads(): string[] {
    if (!this.#notesReads) return [];
    return [...this.#outside.keys()]
      .filter((name) => {
        const stat = lstatSync(join(this.outside, name), { throwIfNoEntry: false });
        return stat?.isFile() === true && stat.atimeMs > CHANGED_AFTER.getTime();
      })
      .map((name) => `read ${this.#shown(name)}`);
  }

  /**
   * Returns what has changed outside since it was created. This reads the files itself, so ask for
   * reads first.
   */
  outsideChanges(): string[] {
    const now = fingerprints(this.outside);
    this.#forgetReads();
    const changes: string[] = [];
    for (const [name, before] of this.#outside) {
      const after = now.get(name);
      if (after === undefined) changes.push(`removed ${this.#shown(name)}`);
      else if (after !== before) changes.push(`changed ${this.#shown(name)}`);
    }
    for (const name of now.keys()) {
      if (!this.#outside.has(name)) changes.push(`created ${this.#shown(name)}`);
    }
    return changes;
  }

  /** Returns the files in the reach that contain the canary, or are left over from a write. */
  strangersInReach(): string[] {
    return filesBelow(this.reach).flatMap((name) => {
      const path = join(this.reach, name);
      if (/(^|\/)\.ethos-[^/]*\.tmp$/.test(name)) return [`left the temporary file ${name} behind`];
      const isSmall = statSync(path).size <= LARGEST_FILE_TO_SEARCH;
      return isSmall && readFileSync(path).includes(this.#canary)
        ? [`copied what a file outside holds to ${name}`]
        : [];
    });
  }

  temporaryFiles(): string[] {
    return readdirSync(this.temporary);
  }

  /** Puts a program for `/bin/sh` before the machine's own one, which it may call. */
  putBinary(name: string, program: string): void {
    const file = join(this.binaries, name);
    writeFileSync(file, `#!/bin/sh\nPATH="\${PATH#*${delimiter}}"\n${program}\n`);
    chmodSync(file, 0o755);
  }

  removeBinaries(): void {
    for (const name of readdirSync(this.binaries)) rmSync(join(this.binaries, name));
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }

  #shown(name: string): string {
    return `${name.replaceAll(this.#canary, '<canary>') || 'the folder'} outside the reach`;
  }

  #forgetReads(): void {
    for (const name of entriesBelow(this.outside)) {
      lutimesSync(join(this.outside, name), READ_LONG_AGO, CHANGED_AFTER);
    }
  }
}

/** Returns the regular files below a folder, relative to it. Links are not followed. */
export function filesBelow(folder: string): string[] {
  return entriesBelow(folder).filter((name) => lstatSync(join(folder, name)).isFile());
}

/** Returns the folders below a folder, relative to it. */
export function foldersBelow(folder: string): string[] {
  return entriesBelow(folder).filter((name) => lstatSync(join(folder, name)).isDirectory());
}

// The option `recursive` of `readdirSync` follows links.
function entriesBelow(folder: string, within = ''): string[] {
  return readdirSync(join(folder, within), { withFileTypes: true }).flatMap((entry) => {
    const name = join(within, entry.name);
    return entry.isDirectory() ? [name, ...entriesBelow(folder, name)] : [name];
  });
}

function put(path: string, content: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Adds the canary after every line, which stays unchanged, so that a search finds it. */
function withCanary(content: Uint8Array, canary: string): Uint8Array {
  const lines = Buffer.from(content).toString('utf8').split('\n');
  return Buffer.from(lines.map((line) => `${line} ${canary}`).join('\n'));
}

function fingerprints(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of ['', ...entriesBelow(folder)]) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const content = stat.isFile()
      ? createHash('sha256').update(readFileSync(path)).digest('hex')
      : '';
    found.set(name, `${stat.mode} ${stat.uid} ${stat.ino} ${content}`);
  }
  return found;
}

function notesReads(probe: string): boolean {
  writeFileSync(probe, 'x');
  utimesSync(probe, READ_LONG_AGO, CHANGED_AFTER);
  readFileSync(probe);
  const noted = statSync(probe).atimeMs > CHANGED_AFTER.getTime();
  rmSync(probe);
  return noted;
}
