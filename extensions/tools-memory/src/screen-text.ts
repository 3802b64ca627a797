import { plainLines } from '@ethosagent/policy';
import { distinct, type Finding } from './finding.js';
import { visibleText } from './fold-text.js';
import { findInstructions } from './screen-instructions.js';
import { findSecretForms } from './screen-secrets.js';
import { lintSecrets } from './secretlint.js';

/**
 * Looks for what should not be remembered: secrets, and instructions to the model that reads it.
 * It finds what is written as such things are; it is no proof that a text has neither.
 */
export async function screenText(text: string): Promise<Finding[]> {
  const given = plainLines(text);
  // A secret with an invisible character in it is still one to whoever copies it from the screen.
  const visible = visibleText(given);
  const texts = visible === given ? [given] : [given, visible];
  const linted = await Promise.all(texts.map(lintSecrets));
  return distinct([
    ...texts.flatMap(findSecretForms),
    // What both know is called by the name that says more.
    ...linted.flat(),
    ...findInstructions(given),
  ]);
}

/** Findings for a model or a person: what, and where; never the text itself. */
export function describeFindings(findings: readonly Finding[]): string {
  const shown = findings.slice(0, 5).map(({ what, line }) => `${what} (line ${line})`);
  const more = findings.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
