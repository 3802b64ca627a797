import { describe, expect, it } from 'vitest';
import { sectionMarks } from './section-marks.js';

describe('sectionMarks', () => {
  it.each<[string, number, boolean]>([
    ['plain', 0, false],
    ['## A', 1, false],
    ['x\n\n  ##\tA\ny\r##\n\u2028## B', 3, false],
    ['# A\n### B\n##C\n    ## D\n> ## E\n- ## F', 0, false],
    ['```\n## A\n```', 0, false],
    ['~~~~ md\n## A\n~~~\n```\n## A\n~~~~~', 0, false],
    ['```\n## A\n``` md\n```\n## B', 1, false],
    ['``` a`b\n## A', 1, false],
    ['```\n## A', 1, true],
    ['```', 0, true],
    ['<!-- a -->\n<!-- b', 0, true],
    ['<!-- a\n-->', 0, false],
    ['a <!-- b', 0, false],
    ['```html\n<!-- a\n```', 0, false],
    ['<!--\n## A\n-->', 1, false],
    ['- ```sh\n  run\n  ```\n- more', 0, false],
    ['1. a\n   - ```\n     ## run\n     ```', 0, false],
    ['- ```\n\n## A\n\n```', 1, false],
  ])('of %j', (text, headings, isOpen) => {
    expect(sectionMarks(text)).toEqual({ headings, isOpen });
  });
});
