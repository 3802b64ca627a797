import { isHiddenByAttribute, isHiddenElement } from './hidden-element.js';
import { OutlineText } from './outline-text.js';
import { type PageFacts, PageFactsCollector } from './page-facts.js';
import {
  type Formula,
  formulaOf,
  formulaOfImage,
  type MathmlToTex,
  PageFormulas,
} from './page-formulas.js';
import { type PageLink, PageLinks } from './page-links.js';
import { PageMarkup } from './page-markup.js';

/** A page after one pass over its source. */
export interface ScannedPage extends PageFacts {
  /**
   * The markup of the visible part, with few attributes and bounded depth; `undefined` when it is
   * too large.
   */
  markup: string | undefined;
  /** The text of the visible part, by lines, with marks for headings and lists. */
  outline: string;
  /** The first links of the page, each URL once. */
  links: PageLink[];
  /** The number of elements with a link. */
  linkCount: number;
  /** How deep the elements are nested. */
  depth: number;
  /** Whether the page is nested too deep or too long. The rest of it is missing then. */
  isCut: boolean;
}

// No honest page is deeper, and the parser itself gets slow.
const MAX_DEPTH = 2_000;
const PIECE_CHARS = 65_536;
// The limit counts start tags, end tags and pieces of text. For an end tag, the parser searches all open
// elements, so deeper events count more.
const MAX_STEPS = 2_000_000;
const DEPTH_OF_ONE_STEP = 64;
const MAX_TITLE_CHARS = 2_000;
const MAX_SCRIPT_CHARS = 200_000;
/** The list item, and the paragraph and the label in it that the box of a task may be in. */
const TASK_BOX_DEPTH = 4;

interface Open {
  name: string;
  isWritten: boolean;
  isHidden: boolean;
  /** Whether a formula in the element has lines of its own. */
  isDisplay: boolean;
}

/**
 * Scans HTML once, in linear time and bounded memory, and keeps what a reader would see: no
 * scripts, styles, comments or hidden elements, and only links to the web.
 *
 * @param url where the page came from
 */
export async function scanHtml(source: string, url: URL): Promise<ScannedPage> {
  const { Parser } = await import('htmlparser2');
  const scan = new Scan(url, await mathmlReader(source));
  const parser = new Parser(scan, { decodeEntities: true, lowerCaseTags: true });
  const html = source.toWellFormed();
  for (let at = 0; at < html.length && !scan.isGivenUp; at += PIECE_CHARS) {
    const piece = html.slice(at, at + PIECE_CHARS);
    parser.write(piece);
    scan.countEnds(piece);
  }
  if (!scan.isGivenUp) parser.end();
  return scan.result();
}

async function mathmlReader(source: string): Promise<MathmlToTex | undefined> {
  if (!/<math[\s>]/i.test(source)) return undefined;
  const { MathMLToLaTeX } = await import('mathml-to-latex');
  return (mathml) => MathMLToLaTeX.convert(mathml);
}

class Scan {
  isGivenUp = false;
  readonly #facts: PageFactsCollector;
  readonly #outline = new OutlineText();
  readonly #links: PageLinks;
  readonly #markup: PageMarkup;
  readonly #formulas: PageFormulas;
  readonly #stack: Open[] = [];
  #steps = 0;
  #depth = 0;
  #hidden = 0;
  #pre = 0;
  #title: string | undefined;
  #script: string | undefined;
  /** The TeX source that MathJax keeps beside the rendered formula. */
  #tex: { text: string; isBlock: boolean } | undefined;

  constructor(url: URL, toTex: MathmlToTex | undefined) {
    this.#facts = new PageFactsCollector(url);
    this.#links = new PageLinks(url);
    this.#markup = new PageMarkup(this.#links);
    this.#formulas = new PageFormulas(toTex);
  }

  /**
   * Counts end tags, even those without a start tag: the deeper the place, the longer the parser
   * takes for one.
   */
  countEnds(piece: string): void {
    if (this.#depth <= DEPTH_OF_ONE_STEP) return;
    const ends = piece.split('</').length - 1;
    this.#steps += ends * Math.floor(this.#depth / DEPTH_OF_ONE_STEP);
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    // The rest of this piece is not read, because it could be hidden.
    this.isGivenUp ||= this.#stack.length >= MAX_DEPTH;
    if (this.#isTooMuch()) return;
    this.#depth = Math.max(this.#depth, this.#stack.length + 1);
    this.#head(name, attributes);
    const isHidden = isHiddenElement(name, attributes);
    const open: Open = { name, isWritten: false, isHidden, isDisplay: isDisplay(name, attributes) };
    this.#stack.push(open);
    if (this.#hidden === 0 && name === 'input') this.#task(attributes);
    if (open.isHidden) this.#hidden += 1;
    if (name === 'pre') this.#pre += 1;
    if (this.#hidden > 0) return;
    if (this.#isFormula(name, attributes)) return;
    this.#outline.open(name);
    if (name === 'a') this.#links.open(attributes.href ?? '');
    open.isWritten = this.#markup.open(name, attributes);
  }

  onclosetag(name: string): void {
    const open = this.#isTooMuch() ? undefined : this.#stack.pop();
    if (open === undefined) return;
    this.#endHead(name);
    if (this.#hidden === 0 && this.#formulas.isOpen) {
      const formula = this.#formulas.close(name);
      if (formula !== undefined) this.#formula(formula);
    } else if (this.#hidden === 0) {
      this.#outline.close(name);
      if (name === 'a') this.#links.close();
      if (open.isWritten) this.#markup.close(name);
    }
    if (open.isHidden) this.#hidden -= 1;
    if (name === 'pre') this.#pre -= 1;
  }

  ontext(text: string): void {
    if (this.#isTooMuch()) return;
    if (this.#title !== undefined && this.#title.length < MAX_TITLE_CHARS) this.#title += text;
    if (this.#script !== undefined && this.#script.length < MAX_SCRIPT_CHARS) this.#script += text;
    if (this.#tex !== undefined && this.#tex.text.length < MAX_TITLE_CHARS) this.#tex.text += text;
    if (this.#hidden > 0) return;
    if (this.#formulas.isOpen) {
      this.#formulas.text(text);
      return;
    }
    const isPre = this.#pre > 0;
    // The libraries that read this next need quadratic time for long runs of white space.
    const shown = isPre
      ? text.replaceAll(/[^\S\n]{200,}/g, ' ').replaceAll(/\n{20,}/g, '\n')
      : text.replaceAll(/\s+/g, ' ');
    this.#outline.text(shown, isPre);
    this.#links.text(shown);
    this.#markup.text(shown, isPre);
  }

  result(): ScannedPage {
    return {
      ...this.#facts.facts,
      markup: this.isGivenUp || this.#markup.isTooMuch ? undefined : this.#markup.toString(),
      outline: this.#outline.toString(),
      links: this.#links.all,
      linkCount: this.#links.count,
      depth: this.#depth,
      isCut: this.isGivenUp,
    };
  }

  #isTooMuch(): boolean {
    this.#steps += 1 + Math.floor(this.#stack.length / DEPTH_OF_ONE_STEP);
    this.isGivenUp ||= this.#steps > MAX_STEPS;
    return this.isGivenUp;
  }

  /**
   * Takes an element that belongs to a formula, or is an image of one.
   *
   * @returns whether it was one
   */
  #isFormula(name: string, attributes: Record<string, string>): boolean {
    if (this.#formulas.isOpen) {
      this.#formulas.open(name, attributes);
      return true;
    }
    if (name === 'math') {
      const isBlock = this.#stack.slice(-5).some((one) => one.isDisplay);
      this.#formulas.begin(attributes, isBlock);
      return true;
    }
    const formula = name === 'img' ? formulaOfImage(attributes) : undefined;
    if (formula !== undefined) this.#formula(formula);
    return formula !== undefined;
  }

  #formula(formula: Formula): void {
    const { tex, isBlock } = formula;
    const marked = isBlock ? `$$${tex}$$` : `$${tex}$`;
    this.#outline.text(marked, false);
    this.#links.text(marked);
    this.#markup.formula(formula);
  }

  /** Shows the box of an item in a list of tasks. */
  #task(attributes: Record<string, string>): void {
    const isInItem = this.#stack.slice(-TASK_BOX_DEPTH).some(({ name }) => name === 'li');
    if (!isInItem || this.#formulas.isOpen || !isTaskBox(attributes)) return;
    const mark = attributes.checked === undefined ? '[ ] ' : '[x] ';
    this.#outline.text(mark, false);
    this.#links.text(mark);
    this.#markup.text(mark, false);
  }

  /** Reads an element with facts about the page. Such elements are not shown. */
  #head(name: string, attributes: Record<string, string>): void {
    const { lang = '', href = '', rel = '', datetime, type, content = '' } = attributes;
    if (name === 'html') this.#facts.language(lang);
    else if (name === 'title' && !this.#isInside('svg')) this.#title ??= '';
    else if (name === 'base') this.#links.base(href);
    else if (name === 'time' && datetime !== undefined) this.#facts.time(datetime);
    else if (name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(rel.slice(0, 200))) {
      this.#facts.canonical(href);
    } else if (name === 'script' && type?.trim().toLowerCase() === 'application/ld+json') {
      this.#script = '';
    } else if (name === 'script' && type !== undefined && /^math\/tex/i.test(type)) {
      this.#tex = { text: '', isBlock: /mode\s?=\s?display/i.test(type.slice(0, 100)) };
    } else if (name === 'meta') {
      const label = attributes.property ?? attributes.name ?? attributes.itemprop;
      if (label !== undefined) this.#facts.meta(label, content);
    }
  }

  #endHead(name: string): void {
    if (name === 'title' && this.#title !== undefined) {
      this.#facts.title(this.#title);
      this.#title = undefined;
    }
    if (name === 'script' && this.#script !== undefined) {
      this.#facts.linkedData(this.#script);
      this.#script = undefined;
    }
    if (name === 'script' && this.#tex !== undefined) {
      const formula = formulaOf(this.#tex.text, this.#tex.isBlock);
      this.#tex = undefined;
      // Only the script itself is hidden.
      if (formula !== undefined && this.#hidden === 1) this.#formula(formula);
    }
  }

  #isInside(name: string): boolean {
    return this.#stack.some((open) => open.name === name);
  }
}

/**
 * Whether an input is a box that says whether a task is done. A box of a form, or one that only a
 * style sheet uses to open a menu, can be changed and has a name.
 */
function isTaskBox(attributes: Record<string, string>): boolean {
  const { type = '', id = '', name = '', disabled } = attributes;
  const isFixed = disabled !== undefined || id + name === '';
  return type.toLowerCase() === 'checkbox' && isFixed && !isHiddenByAttribute(attributes);
}

/** Whether a formula in this element has lines of its own. */
function isDisplay(name: string, { class: names = '', display }: Record<string, string>): boolean {
  return (
    (name === 'mjx-container' && display === 'true') ||
    /(?:^|\s)(?:katex-display|mwe-math-mathml-display)(?:\s|$)/.test(names.slice(0, 200))
  );
}
