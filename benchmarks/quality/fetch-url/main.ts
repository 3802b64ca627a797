import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { articlesOf } from './articles.js';
import { contest, type Page, type Row } from './contest.js';
import { STYLES } from './styles.js';

// Usage: tsx benchmarks/quality/fetch-url/main.ts [articles, 20 when absent]
const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const articles = articlesOf(root, Number(process.argv[2] ?? 20));
const pages = Object.entries(STYLES).flatMap(([style, present]) =>
  articles.map((article): Page => {
    return { name: `${style} ${article.name}`, html: present(article), truth: article.html };
  }),
);
// The first run loads the libraries, so it is not measured.
await contest(pages.filter((_, at) => at % 17 === 0).slice(0, 5));
const rows = await contest(pages);

console.log(`${articles.length} articles, each on ${Object.keys(STYLES).length} kinds of page.\n`);
for (const style of Object.keys(STYLES))
  print(
    style,
    rows.filter(({ name }) => name.startsWith(`${style} `)),
  );
print('all', rows);
for (const { name, ours, peer } of rows) {
  if (ours.recall < peer.recall - 0.001 || ours.precision < peer.precision - 0.001) {
    console.log(`behind: ${name}: ${cells(ours)} beside ${cells(peer)}`);
  }
}

function print(name: string, some: readonly Row[]): void {
  const mean = (of: (row: Row) => number) =>
    some.reduce((sum, row) => sum + of(row), 0) / some.length;
  const score = (who: 'ours' | 'peer') =>
    cells({ recall: mean((row) => row[who].recall), precision: mean((row) => row[who].precision) });
  const ratio = mean(({ oursMs }) => oursMs) / mean(({ peerMs }) => peerMs);
  console.log(`| ${name} | ${score('ours')} | ${score('peer')} | ${ratio.toFixed(2)} |`);
}

function cells({ recall, precision }: { recall: number; precision: number }): string {
  return `${recall.toFixed(3)} / ${precision.toFixed(3)}`;
}
