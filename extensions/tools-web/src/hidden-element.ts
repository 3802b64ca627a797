import { isHiddenStyle } from './hidden-style.js';

/** What is no text, is of use only with scripts, or is there for browsers that lack something. */
const NOT_SHOWN: ReadonlySet<string> = new Set(
  'applet audio canvas datalist embed frame frameset iframe input link map meta meter noembed noframes noscript object param progress rp script select source style svg template textarea title track video'.split(
    ' ',
  ),
);

/** Whether an element, with all that is in it, is nothing that a reader would see. */
export function isHiddenElement(name: string, attributes: Record<string, string>): boolean {
  if (NOT_SHOWN.has(name)) return true;
  // A style of the page itself is mostly one that its script takes away.
  if (name === 'html' || name === 'body' || name === 'head') return false;
  const { class: names = '' } = attributes;
  // The links with which an encyclopedia's sections are edited.
  if (/(?:^|\s)mw-editsection(?:\s|$)/.test(names)) return true;
  // A formula as MathJax drew it, beside the script that has its source.
  if (name !== 'mjx-container' && /(?:^|\s)MathJax(?:_\w+)?(?:\s|$)/.test(names)) return true;
  // It is there for those who see. Those who don't are given the formula otherwise.
  const isFormula = name === 'img' && names.includes('mwe-math-fallback-image');
  return (
    attributes.hidden !== undefined ||
    attributes.popover !== undefined ||
    (attributes['aria-hidden']?.trim().toLowerCase() === 'true' && !isFormula) ||
    (name === 'dialog' && attributes.open === undefined) ||
    (attributes.style !== undefined && isHiddenStyle(attributes.style))
  );
}
