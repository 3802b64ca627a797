/** How likely a value is a secret, when its form alone does not say so. */

const PLACEHOLDER =
  /^(?:<[^>]*>|\[[^\]]*\]|\$.*|%[A-Za-z_]\w*%|\{\{.*|.*\{\{.*|process\.env.*|os\.environ.*|env[:.].*|secret:.*|vault:.*|op:.*|x{3,}.*|\*{3,}.*|•{3,}.*|\.{3,}|…|your[-_ ]?.*|my[-_]?(?:password|secret|token|key).*|changeme.*|example.*|dummy.*|redacted.*|placeholder.*|none|null|undefined|true|false)$/i;
// The place of a secret may be remembered: a path, a ref, a URL.
const PLACE =
  /^[a-z][a-z0-9+.-]*:\/\/[^@]*$|^[A-Za-z][\w-]*\.(?:env|ya?ml|json|toml|txt|md|pem|key|ts|js|py|kdbx)$/;

const PATH = /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\]|^[A-Za-z][\w.-]*(?:\/[A-Za-z][\w.-]*)+$/;
// A random text may have slashes, too, but no words between them.
const WORD_OF_PATH =
  /^(?:(?:[A-Z]{0,3}[a-z]{2,}|[a-z])(?:[A-Z][a-z]{2,}){0,4}|[A-Z]{1,12})?\d{0,6}$|^[A-Za-z\d]{1,3}$|^\d{1,8}$/;
const KEYSTROKES =
  /^(?:(?:cmd|command|ctrl|control|alt|opt|option|shift|meta|super|win|fn|esc|tab|[⌘⌥⇧⌃])\+?)+[+-][^\s]{1,10}$/i;

function isPath(value: string): boolean {
  return PATH.test(value) && value.split(/[/\\._~:@-]/).every((word) => WORD_OF_PATH.test(word));
}

/** Whether a value only stands for a secret, or says where it is kept. */
export function isNoValue(value: string): boolean {
  return (
    PLACEHOLDER.test(value) ||
    PLACE.test(value) ||
    isPath(value) ||
    KEYSTROKES.test(value) ||
    /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value)
  );
}

/**
 * Whether a text is a name made of words and numbers, such as `cache:2026-11-22`. A key mixes
 * letters and digits in one part.
 */
export function isNameOfWords(value: string): boolean {
  const parts = value.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
  return (
    parts.length > 1 &&
    parts.every((part) => /^(?:\p{L}?\p{Ll}{0,24}|\p{Lu}{1,12}|\d{1,6}|[vp]\d+)$/u.test(part))
  );
}

/** Whether the value after a name such as `api_key` is a secret. */
export function looksAssigned(value: string, isPassword: boolean): boolean {
  if (isNoValue(value)) return false;
  const isMixed = classesOf(value) >= 2 && /[0-9]/.test(value) && /\p{L}/u.test(value);
  if (isPassword) {
    if (value.length >= 6 && isMixed) return true;
    if (value.length >= 6 && /\p{L}[!@#$%^&*?+=~]|[!@#$%^&*?+=~]\p{L}/u.test(value)) return true;
    return value.length >= 16 && /^\p{L}+$/u.test(value);
  }
  if (isNameOfWords(value)) return false;
  if (/^\d{4}-\d{2}-\d{2}|^v?\d+(?:\.\d+)+/.test(value)) return false;
  if (value.length >= 32) return entropyOf(value) >= 3;
  return value.length >= 10 && isMixed && entropyOf(value) >= 2.8;
}

/** Whether a text without a name is as random as keys are. Hashes in hexadecimal are not keys. */
export function looksRandom(value: string): boolean {
  if (isNameOfWords(value)) return false;
  if (/^(?:sha\d+[-:]|[0-9a-f-]+$|0x)/i.test(value)) return false;
  const digits = value.replaceAll(/\D/g, '').length;
  if (digits < 3 || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  // Paths and names are made of words.
  const words = value.match(/[A-Z]?[a-z]{4,}/g) ?? [];
  const inWords = words.reduce((sum, word) => sum + word.length, 0);
  return inWords < value.length / 3 && entropyOf(value) >= 4.2;
}

function classesOf(value: string): number {
  return [/\p{Ll}/u, /\p{Lu}/u, /[0-9]/, /[^\p{L}0-9]/u].filter((one) => one.test(value)).length;
}

/** Returns the entropy of a text, in bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    bits -= (count / value.length) * Math.log2(count / value.length);
  }
  return bits;
}
