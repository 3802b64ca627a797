import { isMarked } from './marked-text.js';

// Facts about the runtime. To read them runs nothing.
const ABOUT_NODE =
  /^process\.(?:version|platform|arch|pid|ppid|title|execPath|execArgv|argv|argv0|release(?:\.\w+)?|versions(?:\.\w+)?|config(?:\.\w+)*|features(?:\.\w+)?|env(?:\.\w+)?)$/;
// A file with this ending is read as data. The other files of the project may run anyway.
const ABOUT_PACKAGE =
  /^require\((['"])\.{1,2}\/(?:[\w@-][\w@.-]*\/)*[\w@-][\w@.-]*\.json\1\)(?:\.[A-Za-z_]\w*|\[\d+\])*$/;
const SUM = /^[\d\s.+*/%()-]{1,100}$/;
const PRINTED = /^console\.log\(([^;]*)\);?$/;

/**
 * Whether a program and its words only print a fact about node itself, a value from a JSON file of
 * the project, or a sum.
 */
export function isHarmlessCode(name: string, args: readonly string[]): boolean {
  const [option, code, ...more] = args;
  if (!/^(node|nodejs)$/.test(name) || code === undefined || more.length > 0 || isMarked(code)) {
    return false;
  }
  const expression = code.trim();
  if (/^(-p|-pe|--print)$/.test(option ?? '')) return isValue(expression);
  const printed = PRINTED.exec(expression)?.[1];
  return /^(-e|--eval)$/.test(option ?? '') && printed !== undefined && isValue(printed.trim());
}

function isValue(expression: string): boolean {
  return (
    ABOUT_NODE.test(expression) ||
    ABOUT_PACKAGE.test(expression) ||
    // A comment could hide the code after it.
    (SUM.test(expression) && !/\/[/*]/.test(expression))
  );
}
