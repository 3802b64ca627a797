const MAX_STYLE_CHARS = 2_000;
const MIN_OFF_SCREEN = 500;
const MIN_OPACITY = 0.05;
const MIN_FONT_PX = 2;
const ZERO = /^[-+]?0*(?:\.0*)?(?:px|r?em|pt|ex|ch|v[hw]|%)?$/;
const MAX_VALUE_CHARS = 200;
const FAR_AWAY = [
  'text-indent',
  'left',
  'right',
  'top',
  'bottom',
  'inset',
  'margin',
  'margin-left',
  'margin-top',
];

/** Whether an inline style alone hides an element. */
export function isHiddenStyle(style: string): boolean {
  const declarations = declarationsOf(style);
  const of = (property: string) => declarations.get(property) ?? '';
  const is = (property: string, ...values: string[]) => values.includes(of(property));
  const isZero = (property: string) => of(property) !== '' && ZERO.test(of(property));
  const isTiny = (property: string) => isZero(property) || /^0*1px$/.test(of(property));
  const isClipped = ['overflow', 'overflow-x', 'overflow-y'].some((property) =>
    /^(?:hidden|clip)\b/.test(of(property)),
  );
  return (
    is('display', 'none') ||
    is('visibility', 'hidden', 'collapse') ||
    is('content-visibility', 'hidden') ||
    isUnseenColor(of('color')) ||
    isBelow(of('opacity'), MIN_OPACITY) ||
    isBelow(/^opacity\(([^()]*)\)/.exec(of('filter'))?.[1] ?? '', MIN_OPACITY) ||
    isZero('font-size') ||
    isBelow(/^(.+)px$/.exec(of('font-size'))?.[1] ?? '', MIN_FONT_PX) ||
    /^(?:\S+ ){0,4}0(?:px|r?em|pt|%)?(?:\/\S+)? /.test(of('font')) ||
    /(?:^| )scale[xy]?\(0(?:\.0*)?(?:[,)]| )/.test(of('transform')) ||
    FAR_AWAY.some((property) => isFarAway(of(property))) ||
    isFarAway(/translate(?:[xy]|3d)?\(([^()]*)\)/.exec(of('transform'))?.[1] ?? '') ||
    isFarAway(of('translate')) ||
    /^rect\((?:\s*[01](?:px)?\s*,?){4}\)$/.test(of('clip')) ||
    /^(?:inset\(\s*(?:50|100)%|circle\(\s*0)/.test(of('clip-path')) ||
    (isClipped && ['width', 'height', 'max-height', 'max-width'].some(isZero)) ||
    (isClipped && isTiny('width') && isTiny('height'))
  );
}

/** Reads the declarations, in lower case. When a name is there twice, the last one counts. */
function declarationsOf(style: string): Map<string, string> {
  const declarations = new Map<string, string>();
  const plain = withoutEscapes(withoutComments(style.slice(0, MAX_STYLE_CHARS))).toLowerCase();
  for (const declaration of plain.split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 0) continue;
    const value = declaration
      .slice(colon + 1)
      .replaceAll(/\s+/g, ' ')
      .replace(/ ?! ?important/, '')
      .trim();
    declarations.set(declaration.slice(0, colon).trim(), value.slice(0, MAX_VALUE_CHARS));
  }
  return declarations;
}

/**
 * Whether one of the lengths moves the element off the screen. Lengths inside `calc()` count, too.
 */
function isFarAway(lengths: string): boolean {
  for (const [, digits, unit] of lengths.matchAll(/-(\d{1,9})(?:\.\d*)?(px|r?em|%|v[hw])?/g)) {
    // Each of these units is a hundredth of the screen.
    const isOfScreen = unit === 'vw' || unit === 'vh';
    if (Number(digits) >= (isOfScreen ? 100 : MIN_OFF_SCREEN)) return true;
  }
  return false;
}

function isUnseenColor(color: string): boolean {
  const alpha = /^(?:rgb|hsl)a?\((?:[^,]*,){3}([^,()]*)\)$/.exec(color)?.[1];
  return (
    color === 'transparent' ||
    isBelow(alpha ?? /\/([^/()]*)\)$/.exec(color)?.[1] ?? '', MIN_OPACITY) ||
    /^#(?:[0-9a-f]{3}0|[0-9a-f]{6}00)$/.test(color)
  );
}

/** Whether a number or a percentage is below a limit. */
function isBelow(text: string, limit: number): boolean {
  const [, number, percent] = /^\s?\+?(\d{0,9}\.?\d{0,20})(%?)\s?$/.exec(text) ?? [];
  if (number === undefined || !/\d/.test(number)) return false;
  return Number(number) / (percent === '%' ? 100 : 1) < limit;
}

/** Replaces CSS escapes: `\\6e one` is another way to write `none`. */
function withoutEscapes(style: string): string {
  if (!style.includes('\\')) return style;
  return style.replaceAll(/\\(?:([\da-f]{1,6})\s?|(.))/gis, (_, code?: string, char = '') => {
    const point = code === undefined ? undefined : Number.parseInt(code, 16);
    return point === undefined ? char : point <= 0x10ffff ? String.fromCodePoint(point) : '';
  });
}

/** Removes comments, in linear time even for comments that never end. */
function withoutComments(style: string): string {
  let shown = '';
  for (let at = 0; ; ) {
    const start = style.indexOf('/*', at);
    if (start < 0) return shown + style.slice(at);
    shown += style.slice(at, start);
    const end = style.indexOf('*/', start + 2);
    // The comment is not closed, so it is the rest.
    if (end < 0) return shown;
    at = end + 2;
  }
}
