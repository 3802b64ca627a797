import { nameOf, type TreeElement } from './markdown-tree.js';

const MARKED =
  /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|src-|brush:\s?)([\w+#.-]{1,20})/i;
/** The text around a word that names a language. */
const BESIDE = /(?:^|\s)(?:sourceCode|hljs|src|rust|prettyprint|codehilite|highlight)(?:\s|$)/;
const NO_LANGUAGE: ReadonlySet<string> = new Set(
  'none text plain plaintext plain-text default auto nohighlight source output copy-code notranslate'.split(
    ' ',
  ),
);
const NAMES =
  /(?:^|\s)(bash|c|cpp|csharp|css|diff|go|haskell|html|ini|java|javascript|js|json|jsx|kotlin|lua|makefile|markdown|objectivec|perl|php|python|r|ruby|rust|scala|scss|sh|shell|sql|swift|toml|ts|tsx|typescript|xml|yaml)(?=\s|$)/i;

/** Finds the language of a code block in the classes of its elements. Empty when they name none. */
export function codeLanguage(elements: readonly TreeElement[]): string {
  for (const element of elements) {
    const said = element.getAttribute('data-lang') ?? element.getAttribute('data-language');
    const names = nameOf(element, 'class') ?? '';
    const found =
      said ?? MARKED.exec(names)?.[1] ?? (BESIDE.test(names) ? NAMES.exec(names)?.[1] : undefined);
    const language = found?.trim().toLowerCase();
    if (language === undefined || !/^[\w+#.-]{1,20}$/.test(language)) continue;
    return NO_LANGUAGE.has(language) ? '' : language;
  }
  return '';
}
