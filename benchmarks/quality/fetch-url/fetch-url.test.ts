import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLongRun, tries } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { articlesOf } from './articles.js';
import { STYLES } from './styles.js';

// Words that marks of Markdown cut in two.
const NOISE = 0.003;
const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

it.runIf(isLongRun())(
  'fetch_url shows at least as much of an article as its peer, and as little else',
  async () => {
    const pages = articlesOf(root, tries({ check: 1, long: 20 })).flatMap((article) =>
      Object.entries(STYLES).map(([style, present]) => ({
        name: `${style} ${article.name}`,
        html: present(article),
        truth: article.html,
      })),
    );
    // The contenders take seconds to load.
    const { contest } = await import('./contest.js');
    const rows = await contest(pages);
    expect(rows).toHaveLength(pages.length);
    const behind = rows.filter(
      ({ ours, peer }) =>
        ours.recall < peer.recall - NOISE || ours.precision < peer.precision - NOISE,
    );
    expect(behind).toEqual([]);
  },
);
