import { type Finding, lineAt } from './finding.js';
import { NAME_LIKE_PATTERNS, SECRET_PATTERNS } from './secret-patterns.js';
import { isNameOfWords, isNoValue, looksAssigned, looksRandom } from './secret-values.js';

const NAME =
  '(?<name>(?<password>pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|contraseña|mot de passe|пароль|密码)|(?:(?:api|access|secret|private|auth|signing|encryption|master|session|bot|client|refresh|id|bearer|deploy|service)[-_ ]?){0,3}(?:key|secret|token|credentials?))';
// After a name: `=`, `:`, `is`, `->`, a table cell; also with a quote of JSON or YAML between.
const GIVES = '["\'`]?\\s{0,4}(?:(?:=>|:=|->|[:=|])|\\b(?:is|lautet|ist|est|es)\\b)\\s{0,4}';
const ASSIGNMENT = new RegExp(
  `(?<![\\p{L}\\p{N}])[\\w.-]{0,40}?${NAME}${GIVES}["'\`]?(?<value>[^\\s"'\`|,;]{6,400})`,
  'giu',
);
const URL_CREDENTIALS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}:(?<value>[^\s/@]{3,200})@/gi;
const BEARER = /\b(?:bearer|basic)\s{1,4}(?<value>[\w.~+/-]{20,}={0,2})/gi;
const RANDOM = /(?<![\w+/=.-])[A-Za-z0-9+/_-]{32,400}={0,2}(?![\w+/=-])/g;

/** Secrets in a text by their form, by the name before them, and by how random they look. */
export function findSecretForms(text: string): Finding[] {
  const findings: Finding[] = [];
  const add = (what: string, index: number) =>
    findings.push({ kind: 'secret', what, line: lineAt(text, index) });
  for (const [what, pattern] of SECRET_PATTERNS) {
    for (const { index } of text.matchAll(pattern)) add(what, index);
  }
  for (const [what, pattern] of NAME_LIKE_PATTERNS) {
    for (const { 0: found, index } of text.matchAll(pattern)) {
      if (!isNameOfWords(found)) add(what, index);
    }
  }
  for (const { index, groups } of text.matchAll(ASSIGNMENT)) {
    const isPassword = groups?.password !== undefined;
    const value = (groups?.value ?? '').replace(/[.)\]}>!]+$/, isPassword ? '$&' : '');
    if (!looksAssigned(value, isPassword)) continue;
    add(isPassword ? 'a password' : 'the value of a key or token', index);
  }
  for (const { index, groups } of text.matchAll(URL_CREDENTIALS)) {
    if (!isNoValue(groups?.value ?? '')) add('a password in a URL', index);
  }
  for (const { index, groups } of text.matchAll(BEARER)) {
    const value = groups?.value ?? '';
    if (/[0-9]/.test(value) && !isNoValue(value)) add('an Authorization header', index);
  }
  for (const { 0: value, index } of text.matchAll(RANDOM)) {
    if (looksRandom(value)) add('a random text as long as a key', index);
  }
  return findings;
}
