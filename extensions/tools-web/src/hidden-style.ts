const MAX_STYLE_CHARS = 2_000;
const MIN_OFF_SCREEN = 500;

/** Whether an inline style keeps an element from being seen. */
export function isHiddenStyle(style: string): boolean {
  const declarations = new Map<string, string>();
  const plain = style
    .slice(0, MAX_STYLE_CHARS)
    .toLowerCase()
    .replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '');
  for (const declaration of plain.split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 0) continue;
    const value = declaration.slice(colon + 1).replace('!important', '');
    declarations.set(declaration.slice(0, colon).trim(), value.trim());
  }
  const is = (property: string, ...values: string[]) =>
    values.includes(declarations.get(property) ?? '');
  const isZero = (property: string) =>
    /^-?0*(?:\.0*)?\s?(?:px|r?em|pt|ex|ch|vh|vw|%)?$/.test(declarations.get(property) || 'none');
  const isFarAway = (property: string) => {
    const [, digits] =
      /^-(\d{1,9})(?:\.\d*)?(?:px|r?em|%|v[hw])?$/.exec(declarations.get(property) ?? '') ?? [];
    return Number(digits) >= MIN_OFF_SCREEN;
  };
  return (
    is('display', 'none') ||
    is('visibility', 'hidden', 'collapse') ||
    is('content-visibility', 'hidden') ||
    is('color', 'transparent') ||
    isZero('opacity') ||
    isZero('font-size') ||
    is('transform', 'scale(0)') ||
    ['text-indent', 'left', 'right', 'top', 'bottom', 'margin-left', 'margin-top'].some(
      isFarAway,
    ) ||
    /^rect\((?:\s*[01](?:px)?\s*,?){4}\)$/.test(declarations.get('clip') ?? '') ||
    /^inset\(\s*(?:50|100)%/.test(declarations.get('clip-path') ?? '') ||
    (is('overflow', 'hidden') && ['width', 'height', 'max-height', 'max-width'].some(isZero))
  );
}
