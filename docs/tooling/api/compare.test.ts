import { describe, expect, it } from 'vitest';
import { compareReports } from './compare.js';
import { ENTRY, HIDDEN } from './report.js';

const report = (exported: string, hidden = '') =>
  `// head\n\n${ENTRY}@ethosagent/x\n\n${exported}\n${hidden && `\n${HIDDEN}\n\n${hidden}\n`}`;
const kinds = (before: string, after: string) =>
  compareReports(before, after).map(({ name, kind, what }) => `${kind} ${what} ${name}`);

const BREAKING: [string, string, string][] = [
  [
    'a name that is gone',
    'export interface A {\n}\nexport const b: number;',
    'export interface A {\n}',
  ],
  [
    'a parameter',
    'export function f(a: string): void;',
    'export function f(a: string, b: string): void;',
  ],
  ['a result', 'export function f(): string;', 'export function f(): string | null;'],
  [
    'a required member',
    'export interface A {\n    a: string;\n}',
    'export interface A {\n    a: string;\n    b: string;\n}',
  ],
  ['a member that is gone', 'export interface A {\n    a?: string;\n}', 'export interface A {\n}'],
  [
    'a member that is now required',
    'export interface A {\n    a?: string;\n}',
    'export interface A {\n    a: string;\n}',
  ],
  [
    'a member that is now read-only',
    'export interface A {\n    a: string;\n}',
    'export interface A {\n    readonly a: string;\n}',
  ],
  ['what an interface extends', 'export interface A {\n}', 'export interface A extends B {\n}'],
  [
    'a type parameter',
    'export type A<T> = {\n    a?: T;\n};',
    'export type A<T extends string> = {\n    a?: T;\n};',
  ],
  ['a member of a union', "export type A = 'a' | 'b';", "export type A = 'a';"],
  ['a new member of a union', "export type A = 'a';", "export type A = 'a' | 'b';"],
  [
    'an overload that is gone',
    'export function f(a: string): void;\nexport function f(a: number): void;',
    'export function f(a: number): void;',
  ],
  [
    'a method of a class',
    'export class A {\n    f(): void;\n}',
    'export class A {\n    f(a: string): void;\n}',
  ],
  ['another package', "export { A } from '@ethosagent/y';", "export { A } from '@ethosagent/z';"],
  ['a const that is now a type', 'export const a: string;', 'export type a = string;'],
];

const ADDITIONS: [string, string, string][] = [
  ['a name', 'export const a: string;', 'export const a: string;\nexport const b: string;'],
  [
    'an overload',
    'export function f(a: string): void;',
    'export function f(a: number): void;\nexport function f(a: string): void;',
  ],
  [
    'an optional member',
    'export interface A {\n    a: string;\n}',
    'export interface A {\n    b?: string;\n    a: string;\n}',
  ],
  [
    'an optional member of an object type',
    'export type A = {\n    a: string;\n};',
    'export type A = {\n    a: string;\n    b?: number;\n};',
  ],
  [
    'an optional method',
    'export interface A {\n    a(): void;\n}',
    'export interface A {\n    a(): void;\n    b?(): void;\n}',
  ],
  [
    'a method of a class',
    'export class A {\n    f(): void;\n}',
    'export class A {\n    f(): void;\n    g(): void;\n}',
  ],
];

describe('compareReports', () => {
  it.each(BREAKING)('counts as breaking: %s', (_, before, after) => {
    expect(kinds(report(before), report(after)).join()).toMatch(/breaking/);
  });

  it.each(ADDITIONS)('counts as an addition: %s', (_, before, after) => {
    const found = kinds(report(before), report(after));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^addition /);
  });

  it('sees a change of a type that nobody can name, by the name that it has', () => {
    const exported = 'export function f(options: Hidden): void;';
    const before = report(exported, 'interface Hidden {\n    a?: string;\n}');
    const after = report(exported, 'interface Hidden {\n    a: string;\n}');
    expect(kinds(before, after)).toEqual(['breaking changed Hidden (not exported)']);
  });

  it('sees an entry that is gone, and a package that is new', () => {
    expect(kinds(report('export const a: 1;'), '')).toEqual(['breaking removed a']);
    expect(kinds('', report('export const a: 1;'))).toEqual(['addition added a']);
  });

  it('sees nothing in two reports that only order their members alike', () => {
    expect(kinds(report('export const a: 1;'), report('export const a: 1;'))).toEqual([]);
  });
});
