import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { publishedPackages } from './packages.js';
import {
  type Bill,
  billOfMaterials,
  type Component,
  licenceList,
  nameOf,
  refusedLicences,
} from './sbom.js';

const list = { allowed: ['MIT', 'ISC'], packages: { odd: { licence: 'BSD', because: 'it is' } } };
const component = (licenses: Component['licenses'], name = 'some'): Component => ({
  name,
  version: '1.0.0',
  purl: `pkg:npm/${name}@1.0.0`,
  ...(licenses === undefined ? {} : { licenses }),
});
const isRefused = (each: Component) => refusedLicences({ components: [each] }, list).length > 0;

describe('refusedLicences', () => {
  it.each([
    ['MIT', false],
    ['GPL-3.0-only', true],
    ['(MIT OR GPL-3.0-or-later)', false],
    ['(MIT AND GPL-3.0-or-later)', true],
    ['GPL-3.0-only AND MIT OR GPL-2.0-only', true],
    ['ISC OR GPL-3.0-only AND MIT', false],
    ['(GPL-3.0-only) OR (MIT)', true],
    ['SEE LICENSE IN LICENSE', true],
    ['MIT WITH something', true],
  ])('of the expression %s', (expression, expected) => {
    expect(isRefused(component([{ expression }]))).toBe(expected);
  });

  it('refuses a package that names none, or one more than the list has', () => {
    expect(isRefused(component(undefined))).toBe(true);
    expect(isRefused(component([]))).toBe(true);
    const two = [{ license: { id: 'MIT' } }, { license: { name: 'of my own' } }];
    expect(isRefused(component(two))).toBe(true);
  });

  it('accepts what the list says of one package, for that package alone', () => {
    expect(isRefused(component([{ license: { name: 'BSD' } }], 'odd'))).toBe(false);
    expect(isRefused(component([{ license: { name: 'BSD' } }]))).toBe(true);
    expect(isRefused(component([{ license: { name: 'GPL' } }], 'odd'))).toBe(true);
  });
});

describe.runIf(isLongRun())('the bill of materials of a release', () => {
  let bill: Bill;
  it('names every dependency with a hash, in CycloneDX', async () => {
    bill = await billOfMaterials();
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const names = new Set(bill.components.map(nameOf));
    const wanted = publishedPackages().flatMap(({ manifest }) =>
      Object.keys(manifest.dependencies ?? {}),
    );
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
    const bare = bill.components.filter(
      (each) =>
        !nameOf(each).startsWith('@ethosagent/') && !JSON.stringify(each).includes('SHA-512'),
    );
    expect(bare.map(nameOf)).toEqual([]);
  });

  it('has only licences of scripts/release/licences.json, which has no more than are needed', () => {
    expect(refusedLicences(bill)).toEqual([]);
    const { allowed, packages } = licenceList();
    const unneeded = allowed.filter(
      (licence) =>
        refusedLicences(bill, { packages, allowed: allowed.filter((other) => other !== licence) })
          .length === 0,
    );
    expect(unneeded).toEqual([]);
    expect(refusedLicences(bill, { allowed, packages: {} })).toHaveLength(
      Object.keys(packages).length,
    );
  });
});
