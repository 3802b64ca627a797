import { type Finding, lineAt } from './finding.js';
import { NAME_LIKE_PATTERNS, SECRET_PATTERNS } from './secret-patterns.js';
import { isNameOfWords, isNoValue, looksAssigned, looksRandom } from './secret-values.js';

const NAME =
  '(?<name>(?<password>pass(?:word|wd|phrase|code)|pwd|(?<![\\p{L}\\p{N}])(?:pass|pw)(?=\\s{0,2}[:=])|passwort|kennwort|contraseña|mot de passe|пароль|密码)|(?:(?:api|access|secret|private|auth|signing|encryption|master|session|bot|client|refresh|id|bearer|deploy|service)[-_ ]?){0,3}(?:key|secret|token|credentials?))';
// What may stand between a name and its value, as in `password for admin: …`.
const WHOSE =
  "(?:[^\\S\\n]{1,2}(?:for|of|to|on|für|von|de|pour|para)(?:[^\\S\\n]{1,2}[\\p{L}\\p{N}_.@'-]{1,40}){1,4}?)?";
// What may stand after a name: `=`, `:`, `is`, `->`, a table cell. A quote of JSON or YAML may come first.
const GIVES = '["\'`]?\\s{0,4}(?:(?:=>|:=|->|[:=|])|\\b(?:is|lautet|ist|est|es)\\b)\\s{0,4}';
const ASSIGNMENT = new RegExp(
  `(?<![\\p{L}\\p{N}])[\\w.-]{0,40}?${NAME}${WHOSE}${GIVES}["'\`]?(?<value>[^\\s"'\`|,;]{6,400})`,
  'giu',
);
const URL_CREDENTIALS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}:(?<value>[^\s/@]{3,200})@/gi;
const USER_OPTION =
  /\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[\s=]{0,2}["']?[^\s:"']{1,80}:(?<value>[^\s"']{3,200})/g;
const BEARER = /\b(?:bearer|basic)\s{1,4}(?<value>[\w.~+/-]{20,}={0,2})/gi;
// Public keys look random, and are not secret.
const PUBLIC_KEY =
  /\bpublic[-_ ]?key["'`]?\s{0,4}(?:[:=]|is)\s{0,4}\S{1,800}(?: AAAA\S{1,800})?|\b(?:ssh-[a-z0-9-]{2,20}|ecdsa-sha2-[\w-]{2,20}) AAAA[A-Za-z0-9+/]{1,800}={0,3}/gi;
const RANDOM = /(?<![\w+/=.-])[A-Za-z0-9+/_-]{32,400}={0,2}(?![\w+/=-])/g;

/** Finds secrets in a text by their form, by the name before them, and by how random they look. */
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
  const rest = text.replaceAll(PUBLIC_KEY, (found) => found.replaceAll(/\S/g, ' '));
  for (const { isPassword, value, index } of assignmentsIn(rest)) {
    if (looksAssigned(value, isPassword)) {
      add(isPassword ? 'a password' : 'the value of a key or token', index);
    }
  }
  for (const { index, groups } of text.matchAll(URL_CREDENTIALS)) {
    if (!isNoValue(groups?.value ?? '')) add('a password in a URL', index);
  }
  for (const { index, groups } of text.matchAll(USER_OPTION)) {
    if (!isNoValue(groups?.value ?? '')) add('a password on a command line', index);
  }
  for (const { index, groups } of text.matchAll(BEARER)) {
    const value = groups?.value ?? '';
    if (/[0-9]/.test(value) && !isNoValue(value)) add('an Authorization header', index);
  }
  for (const { 0: value, index } of rest.matchAll(RANDOM)) {
    if (looksRandom(value)) add('a random text as long as a key', index);
  }
  return findings;
}

/**
 * Finds the values after names such as `password`, and their places. A value may be the next name.
 */
function* assignmentsIn(text: string) {
  const pattern = new RegExp(ASSIGNMENT);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const isPassword = match.groups?.password !== undefined;
    const given = match.groups?.value ?? '';
    const index = match.index + match[0].length - given.length;
    pattern.lastIndex = index;
    const value = given.replace(/[.)\]}>!]+$/, isPassword ? '$&' : '');
    yield { isPassword, value, index };
  }
}
