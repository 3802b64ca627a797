import { isLongRun } from '@ethosagent/test-support';
import { afterAll, describe, expect, it } from 'vitest';
import { createAnotherLs } from '../fixtures/another-ls.js';
import { SET_PATH_BY_VALUES, setPathEverywhere } from '../fixtures/set-by-numbers.js';

const { isAllowed, runsIt, remove } = createAnotherLs();
afterAll(remove);

describe('what a number sets, or a format', () => {
  it('runs another program in no line that is allowed', () => {
    const lines = [...SET_PATH_BY_VALUES, ...setPathEverywhere(isLongRun() ? 1 : 23)];
    const runs = runsIt(lines);
    // The attack works, or the test finds nothing.
    expect(runs.filter(Boolean).length).toBeGreaterThan(lines.length / 2);
    expect(lines.filter((line, at) => runs[at] && isAllowed(line))).toEqual([]);
  });

  it.each([
    'i=0; ((i++)); ls $i',
    'i=0; ((i+=2)); ls $((i*2))',
    'n=5; ls $(( $n - 1 ))',
    'n=-5; ls $(( 3 + $n ))',
    'a=(1 2); i=${a[0]}; ls $(( $i + 1 ))',
    'a=(1 2); ls ${a[$((1-1))]}',
    'for ((i=0; i<3; i++)); do ls $i; done',
    'x=a=b; ls "$x"',
    '[[ 1 -eq 1 ]] && ls',
    'n=1; [[ $n -le 2 ]] && ls',
    'x=1; x+=2; ls $((x))',
    'ls $(( (1+2) == 3 ))',
    'let n=1; ls',
    "printf '%s\\n' PATH; ls",
    'x=b; printf "a%s%% new\\n" "$x"; ls',
    'w=20; printf "%${w}s\\n" "$x"; ls',
    "printf 'a%n' n; ls",
    "printf '[%s] `%s` $1' '$(a)' '`b`' \"$x\"; ls",
    'declare -i n=1; ls',
  ])('is allowed where it is another variable: %s', (line) => {
    expect(isAllowed(line)).toBe(true);
  });
});
