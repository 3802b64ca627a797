import { countTries } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { isPortAllowed } from './ports.js';

// The ports of mail, shells, files and names in the list of the fetch standard.
const NEVER = [
  0, 1, 21, 22, 23, 25, 53, 69, 110, 111, 139, 143, 179, 389, 465, 587, 993, 2049, 6000,
];

it('isPortAllowed, for every port: a rule that names it opens at most more, and the web stays open', (context) => {
  for (let port = 0; port <= 65_535; port += 1) {
    if (isPortAllowed(port, false) && !isPortAllowed(port, true)) expect.fail(`${port}`);
  }
  for (const port of NEVER) expect(isPortAllowed(port, true), `${port}`).toBe(false);
  for (const port of [80, 443, 3000, 8000, 8080, 8443]) {
    expect(isPortAllowed(port, false), `${port}`).toBe(true);
  }
  countTries(context, 'fuzz', 65_536);
});
