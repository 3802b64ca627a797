/** A formula of a page. */
export interface Formula {
  tex: string;
  /** Whether the formula has lines of its own. */
  isBlock: boolean;
}

/** Converts MathML to TeX. It may throw. */
export type MathmlToTex = (mathml: string) => string;

const MAX_TEX_CHARS = 5_000;
const MAX_MATHML_CHARS = 20_000;
const MAX_CONVERTED_CHARS = 1_000_000;
const TEX = /^(?:application\/x-(?:la)?tex|text\/x-(?:la)?tex|(?:la)?tex)$/i;
const KEPT = [
  'accent',
  'close',
  'columnalign',
  'display',
  'fence',
  'linethickness',
  'mathvariant',
  'open',
  'separators',
  'stretchy',
];

/**
 * Collects one `<math>` at a time. The result is the TeX that the element names as its source, as
 * those of KaTeX, Wikipedia and LaTeXML do; else TeX that is converted from its MathML.
 */
export class PageFormulas {
  readonly #toTex: MathmlToTex | undefined;
  #converted = 0;
  #depth = 0;
  #annotation: string | undefined;
  #isTex = false;
  #tex = '';
  #alt = '';
  #mathml = '';
  #plain = '';
  #isBlock = false;

  /** @param toTex the converter; absent for a page that has no MathML */
  constructor(toTex?: MathmlToTex) {
    this.#toTex = toTex;
  }

  /** Whether the scan is within a `<math>`. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** Begins a `<math>`. @param isBlock whether the elements around give it lines of its own */
  begin(attributes: Record<string, string>, isBlock: boolean): void {
    this.#depth = 1;
    this.#annotation = undefined;
    this.#tex = '';
    this.#plain = '';
    this.#alt = attributes.alttext ?? '';
    this.#isBlock = isBlock || attributes.display === 'block' || attributes.mode === 'display';
    this.#mathml = '<math>';
  }

  open(name: string, attributes: Record<string, string>): void {
    this.#depth += 1;
    if (this.#annotation !== undefined) return;
    if (name === 'annotation' || name === 'annotation-xml') {
      this.#annotation = name;
      this.#isTex = name === 'annotation' && TEX.test(attributes.encoding?.trim() ?? '');
      return;
    }
    const kept = KEPT.flatMap((key) => {
      const value = attributes[key];
      return value === undefined ? [] : [` ${key}="${escapeXml(value.slice(0, 50))}"`];
    });
    this.#add(`<${name}${kept.join('')}>`);
  }

  text(text: string): void {
    if (this.#annotation !== undefined) {
      if (this.#isTex && this.#tex.length <= MAX_TEX_CHARS) this.#tex += text;
      return;
    }
    if (this.#plain.length <= MAX_TEX_CHARS) this.#plain += text;
    this.#add(escapeXml(text));
  }

  /** Ends an element. @returns the formula, when the `<math>` itself ends */
  close(name: string): Formula | undefined {
    this.#depth -= 1;
    if (this.#depth === 0) return formulaOf(this.#found(), this.#isBlock);
    if (name === this.#annotation) this.#annotation = undefined;
    else if (this.#annotation === undefined) this.#add(`</${name}>`);
    return undefined;
  }

  #add(markup: string): void {
    if (this.#mathml.length <= MAX_MATHML_CHARS) this.#mathml += markup;
  }

  #found(): string {
    if (this.#tex.trim() !== '') return this.#tex;
    if (this.#alt.trim() !== '') return this.#alt;
    this.#converted += this.#mathml.length;
    const isTooMuch =
      this.#mathml.length > MAX_MATHML_CHARS || this.#converted > MAX_CONVERTED_CHARS;
    if (this.#toTex === undefined || isTooMuch) return this.#plain;
    try {
      return this.#toTex(`${this.#mathml}</math>`) || this.#plain;
    } catch {
      // A formula that the library refuses is shown as its letters.
      return this.#plain;
    }
  }
}

/** Makes a formula from a text of the page; `undefined` when it is empty. */
export function formulaOf(said: string, isBlock: boolean): Formula | undefined {
  const plain = said
    .slice(0, MAX_TEX_CHARS * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const styled = /^\{\\(displaystyle|textstyle|scriptstyle)\s(.*)\}$/.exec(plain);
  const tex = (styled?.[2] ?? plain).trim().replaceAll('$', '\\$').slice(0, MAX_TEX_CHARS);
  return tex === '' ? undefined : { tex: tex.toWellFormed(), isBlock };
}

/** Finds the formula that an image shows, as on Wikipedia and in blogs. */
export function formulaOfImage({
  alt = '',
  class: names = '',
  src = '',
}: Record<string, string>): Formula | undefined {
  const isFormula =
    /(?:^|\s)(?:mwe-math-fallback-image-\w+|tex|latex|mathtex)(?:\s|$)/i.test(names) ||
    /latex\.codecogs\.com|\/latex\.php\?/.test(src.slice(0, 300));
  if (!isFormula) return undefined;
  return formulaOf(alt, /fallback-image-display|(?:^|\s)displaystyle/.test(names));
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
