import { readFileSync } from 'node:fs';

/**
 * Reads a corpus: a JSON file of inputs that once broke a property, by the property's name.
 *
 * @param file a `file:` URL, e.g. `new URL('./fixtures/corpus/x.json', import.meta.url)`
 */
export function readCorpus<T extends Record<string, readonly unknown[]>>(file: URL): T {
  return JSON.parse(readFileSync(file, 'utf8'));
}
