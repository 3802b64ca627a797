/** A formula of a page. */
export interface Formula {
  tex: string;
  /** It has lines of its own. */
  isBlock: boolean;
}

/** Makes TeX of MathML; may throw. */
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
 * Collects one `<math>` at a time as it is gone over: the TeX that it was made from where it says
 * that, as KaTeX, Wikipedia and LaTeXML do, else what its MathML comes to.
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

  /** @param toTex absent for a page that has no MathML */
  constructor(toTex?: MathmlToTex) {
    this.#toTex = toTex;
  }

  /** Within a `<math>`. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** @param isBlock whether what is around makes it stand by itself */
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

  /** @returns the formula, at its end */
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

/** A formula from a text of the page; `undefined` for an empty one. */
export function formulaOf(said: string, isBlock: boolean): Formula | undefined {
  const plain = said
    .slice(0, MAX_TEX_CHARS * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const styled = /^\{\\(displaystyle|textstyle|scriptstyle)\s(.*)\}$/.exec(plain);
  const tex = (styled?.[2] ?? plain).trim().replaceAll('$', '\\$').slice(0, MAX_TEX_CHARS);
  return tex === '' ? undefined : { tex: tex.toWellFormed(), isBlock };
}

/** The formula that an image stands for, as Wikipedia and blogs give it. */
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
