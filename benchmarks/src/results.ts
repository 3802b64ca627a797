import { cpus } from 'node:os';

/** One row of a table. */
export interface Row {
  name: string;
  /** In nanoseconds or bytes: less is better. */
  figure: number;
  told: string;
  /** Half of the distance between the quartiles, as a share of the median. */
  noise: number;
  verdict: string;
}

export interface Table {
  title: string;
  rows: readonly Row[];
}

const tables: Table[] = [];

/** Keeps a table that was printed, for what is written at the end of the run. */
export function keepTable(title: string, rows: readonly Row[]): void {
  tables.push({ title, rows });
}

/** The tables of this run. */
export function keptTables(): readonly Table[] {
  return tables;
}

/** What the figures depend on, and nothing that names a machine. */
export function machine(): string {
  const [first] = cpus();
  return `Node ${process.version}, ${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, ${process.platform} ${process.arch}`;
}

/** The tables as a page. */
export function toMarkdown(kept: readonly Table[], head: { date: string; commit: string }): string {
  const parts = [`# ${head.date}`, `Commit ${head.commit}. ${machine()}.`];
  for (const { title, rows } of kept) {
    parts.push(
      `## ${title}`,
      [
        '| contender | median | noise | beside |',
        '|---|---|---|---|',
        ...rows.map(
          ({ name, told, noise, verdict }) =>
            `| ${name} | ${told} | ± ${Math.round(noise * 100)} % | ${verdict} |`,
        ),
      ].join('\n'),
    );
  }
  return `${parts.join('\n\n')}\n`;
}
