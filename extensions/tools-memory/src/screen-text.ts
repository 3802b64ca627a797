import { plainLines } from '@ethosagent/policy';
import { distinct, type Finding } from './finding.js';
import { visibleText } from './fold-text.js';
import { findInstructions } from './screen-instructions.js';
import { findSecretForms } from './screen-secrets.js';
import { lintSecrets } from './secretlint.js';

/**
 * Finds secrets, and instructions to the model that reads the text. It knows their usual forms. An
 * empty answer does not prove that a text has neither.
 */
export async function screenText(text: string): Promise<Finding[]> {
  const given = plainLines(text);
  // Whoever copies a secret from the screen gets it without its invisible characters, so it is searched
  // without them, too.
  const visible = visibleText(given);
  const texts = visible === given ? [given] : [given, visible];
  const linted = await Promise.all(texts.map(lintSecrets));
  return distinct([
    ...texts.flatMap(findSecretForms),
    // When both find the same secret, the more exact name is kept.
    ...linted.flat(),
    ...findInstructions(given),
  ]);
}

/** Says what was found and in which line. It never repeats the found text. */
export function describeFindings(findings: readonly Finding[]): string {
  const shown = findings.slice(0, 5).map(({ what, line }) => `${what} (line ${line})`);
  const more = findings.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
