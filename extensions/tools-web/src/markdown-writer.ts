import { codeLanguage } from './code-language.js';
import { MarkdownFlow } from './markdown-flow.js';
import { writeTable } from './markdown-table.js';
import { codeBlock, codeSpan, escapeMarkdown, linkTarget } from './markdown-text.js';
import {
  elementsOf,
  factsOf,
  isElement,
  isText,
  nameOf,
  type TreeElement,
  type TreeFacts,
  type TreeNode,
} from './markdown-tree.js';

const BLOCKS: ReadonlySet<string> = new Set(
  'ADDRESS ARTICLE ASIDE BODY CENTER DETAILS DIALOG DIV FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HGROUP LEGEND MAIN NAV OPTGROUP SEARCH SECTION SUMMARY'.split(
    ' ',
  ),
);
const CODE: ReadonlySet<string> = new Set(['CODE', 'KBD', 'SAMP', 'TT']);
const LINE_NUMBERS =
  /(?:^|\s)(?:linenos?|lineno|line-?numbers?(?:-rows)?|gutter|rouge-gutter|blob-num)(?:\s|$)/;
/** Elements of code blocks that may have line numbers. */
const MAY_HAVE_NUMBERS: ReadonlySet<string> = new Set(['PRE', 'CODE', 'DIV']);
/** Matches the text of a link to its own heading, or from a note back to its place in the text. */
const SIGN = /^(?:[\s#¶§^↑←⏎⤴↩🔗\u200b]|\ufe0e|\ufe0f)*$/u;

/** The place of a node in the tree. */
interface Place {
  /** Whether the text is already strong. */
  isStrong: boolean;
  isEmphasized: boolean;
  /** The elements around the node, the nearest first; three at most. */
  around: readonly TreeElement[];
}

/**
 * Writes a tree as Markdown, with tables, footnotes, definition lists, formulas, and code with its
 * language. The time is linear in the size of the tree.
 */
export function writeMarkdown(root: TreeNode): string {
  const flow = new MarkdownFlow();
  const writer = new MarkdownWriter(factsOf(root));
  writer.children(root, flow, { isStrong: false, isEmphasized: false, around: [] });
  return flow.toString();
}

class MarkdownWriter {
  readonly #facts: TreeFacts;

  constructor(facts: TreeFacts) {
    this.#facts = facts;
  }

  children(node: TreeNode, flow: MarkdownFlow, place: Place): void {
    for (const child of Array.from(node.childNodes)) {
      if (isText(child)) this.#text(child.nodeValue ?? '', flow);
      else if (isElement(child)) this.#element(child, flow, place);
    }
  }

  #text(text: string, flow: MarkdownFlow): void {
    const shown = text.replaceAll(/\s+/g, ' ');
    flow.inline(escapeMarkdown(shown, flow.isAtStart));
  }

  #inner(node: TreeNode, place: Place): MarkdownFlow {
    const flow = new MarkdownFlow();
    this.children(node, flow, place);
    return flow;
  }

  #element(element: TreeElement, flow: MarkdownFlow, place: Place): void {
    const name = element.nodeName;
    const inside: Place = { ...place, around: [element, ...place.around.slice(0, 2)] };
    if (!MAY_HAVE_NUMBERS.has(name) && LINE_NUMBERS.test(nameOf(element, 'class') ?? '')) return;
    if (BLOCKS.has(name)) {
      flow.gap(name === 'DIV' ? 1 : 2);
      const lines = this.#inner(element, inside);
      flow.block(lines.toString(), lines.hasBlocks || name !== 'DIV' ? 2 : 1);
    } else if (name === 'P') flow.block(this.#inner(element, inside).toString());
    else if (/^H[1-6]$/.test(name)) this.#heading(element, flow, inside);
    else if (name === 'BR') flow.lineBreak();
    else if (name === 'HR') flow.block('---');
    else if (name === 'PRE') this.#pre(element, flow, inside);
    else if (name === 'BLOCKQUOTE') {
      flow.block(
        this.#inner(element, inside).toString().replaceAll(/^/gm, '> ').replaceAll(/ $/gm, ''),
      );
    } else if (name === 'UL' || name === 'OL') this.#list(element, flow, inside);
    else if (name === 'DL') this.#definitions(element, flow, inside);
    else if (name === 'LI') flow.block(item('- ', this.#inner(element, inside).toString()), 1);
    else if (name === 'TABLE' && !this.#facts.layoutTables.has(element)) {
      flow.block(writeTable(element, (cell) => oneLined(this.#inner(cell, inside).toString())));
    } else if (/^(?:TABLE|TR|TD|TH|CAPTION)$/.test(name)) {
      flow.block(this.#inner(element, inside).toString());
    } else this.#inline(element, flow, inside);
  }

  #inline(element: TreeElement, flow: MarkdownFlow, place: Place): void {
    const name = element.nodeName;
    if (name === 'A') this.#link(element, flow, place);
    else if (name === 'IMG') this.#image(element, flow);
    else if (CODE.has(name)) flow.inline(codeSpan(element.textContent ?? ''));
    else if (name === 'MATH') this.#formula(element, flow);
    else if (name === 'STRONG' || name === 'B') {
      const inner = this.#inner(element, { ...place, isStrong: true });
      this.#marked(inner, place.isStrong ? '' : '**', flow);
    } else if (name === 'EM' || name === 'I') {
      const inner = this.#inner(element, { ...place, isEmphasized: true });
      this.#marked(inner, place.isEmphasized ? '' : '*', flow);
    } else if (name === 'DEL' || name === 'S')
      this.#marked(this.#inner(element, place), '~~', flow);
    else if (name === 'Q') {
      flow.inline('“');
      this.children(element, flow, place);
      flow.inline('”');
    } else if (name === 'SUP' && isPower(element, flow.lastChar)) {
      flow.inline(`^${(element.textContent ?? '').trim()}`);
    } else this.children(element, flow, place);
  }

  /** Puts marks directly at the words, without the spaces around them. Around blocks, marks have no meaning. */
  #marked(inner: MarkdownFlow, mark: string, flow: MarkdownFlow): void {
    const [before, text, after] = inner.parts();
    if (inner.hasBlocks) flow.block(text);
    else if (text !== '') flow.inline(`${before}${mark}${text}${mark}${after}`);
    else flow.inline(before);
  }

  #heading(element: TreeElement, flow: MarkdownFlow, place: Place): void {
    const text = oneLined(this.#inner(element, place).toString()).replace(/^#+ /, '');
    if (text !== '') flow.block(`${'#'.repeat(Number(element.nodeName[1]))} ${text}`);
  }

  #link(element: TreeElement, flow: MarkdownFlow, place: Place): void {
    const note = element.getAttribute('data-note');
    const href = element.getAttribute('href');
    const label = note === null ? undefined : this.#facts.notes.get(note);
    const inner = this.#inner(element, place);
    const [before, text, after] = inner.parts();
    if (label !== undefined) flow.inline(`[^${label}]`);
    else if (href === null) {
      if (SIGN.test(text.replaceAll('\\', ''))) return;
      if (inner.hasBlocks) flow.block(text);
      else flow.inline(before + text + after);
    } else if (inner.hasBlocks) {
      flow.block(
        `[${oneLined(text)
          .replaceAll(/(?:^| )#+ /g, ' ')
          .trim()}](${linkTarget(href)})`,
      );
    } else if (text !== '') flow.inline(`${before}[${text}](${linkTarget(href)})${after}`);
    else flow.inline(before);
  }

  #image(element: TreeElement, flow: MarkdownFlow): void {
    const alt = oneLined(element.getAttribute('alt') ?? '');
    const src = element.getAttribute('src') ?? '';
    if (alt !== '' && src !== '') {
      flow.inline(`![${escapeMarkdown(alt, false)}](${linkTarget(src)})`);
    }
  }

  #formula(element: TreeElement, flow: MarkdownFlow): void {
    const tex = (element.textContent ?? '').trim();
    if (tex === '') return;
    if (element.getAttribute('display') === 'block') flow.block(`$$\n${tex}\n$$`);
    else flow.inline(`$${tex}$`);
  }

  #pre(element: TreeElement, flow: MarkdownFlow, { around }: Place): void {
    const code = elementsOf(element).find(({ nodeName }) => nodeName === 'CODE');
    const says = code === undefined ? around : [code, ...around];
    flow.block(codeBlock(preText(element), codeLanguage(says)));
  }

  #list(list: TreeElement, flow: MarkdownFlow, place: Place): void {
    const start = Number.parseInt(list.getAttribute('start') ?? '1', 10);
    let at = Number.isSafeInteger(start) ? start : 1;
    const items = new MarkdownFlow();
    for (const child of elementsOf(list)) {
      const inside = { ...place, around: [child] };
      if (child.nodeName !== 'LI') {
        this.#element(child, items, inside);
        continue;
      }
      const text = this.#inner(child, inside).toString();
      const label = this.#facts.notes.get(nameOf(child, 'id') ?? '');
      const mark =
        label !== undefined ? `[^${label}]: ` : list.nodeName === 'OL' ? `${at}. ` : '- ';
      if (text !== '') items.block(item(mark, text), 1);
      at += 1;
    }
    flow.block(items.toString(), place.around[1]?.nodeName === 'LI' ? 1 : 2);
  }

  #definitions(list: TreeElement, flow: MarkdownFlow, place: Place): void {
    const lines = new MarkdownFlow();
    const visit = (parent: TreeElement): void => {
      for (const child of elementsOf(parent)) {
        if (child.nodeName === 'DIV') visit(child);
        else if (child.nodeName === 'DT') {
          lines.gap(2);
          lines.block(oneLined(this.#inner(child, place).toString()), 1);
        } else if (child.nodeName === 'DD') {
          lines.block(item(': ', this.#inner(child, place).toString()), 1);
        } else this.#element(child, lines, place);
      }
    };
    visit(list);
    flow.block(lines.toString());
  }
}

function item(mark: string, text: string): string {
  if (text === '') return '';
  const indent = ' '.repeat(mark.startsWith('[') ? 4 : mark.length);
  return mark + text.replaceAll(/\n(?=[^\n])/g, `\n${indent}`);
}

function oneLined(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

/** Whether a superscript is a power: a `6` after `10` is; an ordinal or a note is not. */
function isPower(element: TreeElement, before: string): boolean {
  const text = (element.textContent ?? '').trim();
  const isPlain = elementsOf(element).every(({ nodeName }) => nodeName !== 'A');
  return isPlain && /^[-+−]?\d{1,4}$|^[a-z]$/.test(text) && /[\p{L}\p{N})\]]/u.test(before);
}

/**
 * Returns the lines of a code block. Some pages put each line into an element of its own, and some
 * end lines with `<br>`.
 */
function preText(node: TreeNode): string {
  let text = '';
  for (const child of Array.from(node.childNodes)) {
    if (isText(child)) text += child.nodeValue ?? '';
    else if (isElement(child)) {
      const name = child.nodeName;
      if (name === 'BUTTON' || LINE_NUMBERS.test(child.getAttribute('class') ?? '')) continue;
      const isLine = name === 'DIV' || name === 'P' || name === 'LI' || name === 'TR';
      if (isLine && text !== '' && !text.endsWith('\n')) text += '\n';
      text += name === 'BR' ? '\n' : preText(child);
      if (isLine && !text.endsWith('\n')) text += '\n';
    }
  }
  return text;
}
