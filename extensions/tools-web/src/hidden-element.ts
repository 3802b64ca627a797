import { isHiddenStyle } from './hidden-style.js';

/** Elements without text, elements for scripts only, and fallbacks for old browsers. */
const NOT_SHOWN: ReadonlySet<string> = new Set(
  'applet audio canvas datalist embed frame frameset iframe input link map meta meter noembed noframes noscript object param progress rp script select source style svg template textarea title track video'.split(
    ' ',
  ),
);

/** Whether a reader would see neither the element nor anything in it. */
export function isHiddenElement(name: string, attributes: Record<string, string>): boolean {
  if (NOT_SHOWN.has(name)) return true;
  // An inline style on the page itself is usually removed by a script of the page.
  if (name === 'html' || name === 'body' || name === 'head') return false;
  const { class: names = '' } = attributes;
  // The edit links of sections in an encyclopedia.
  if (/(?:^|\s)mw-editsection(?:\s|$)/.test(names)) return true;
  // The formula that MathJax drew. The script beside it has the source.
  if (name !== 'mjx-container' && /(?:^|\s)MathJax(?:_\w+)?(?:\s|$)/.test(names)) return true;
  // This is the visual form. The same formula follows for screen readers.
  const isFormula = name === 'img' && names.includes('mwe-math-fallback-image');
  return (
    (name === 'dialog' && attributes.open === undefined) ||
    isHiddenByAttribute(isFormula ? { ...attributes, 'aria-hidden': 'false' } : attributes)
  );
}

/** Whether an attribute or the inline style hides an element of any kind. */
export function isHiddenByAttribute(attributes: Record<string, string>): boolean {
  return (
    attributes.hidden !== undefined ||
    attributes.popover !== undefined ||
    attributes['aria-hidden']?.trim().toLowerCase() === 'true' ||
    (attributes.style !== undefined && isHiddenStyle(attributes.style))
  );
}
