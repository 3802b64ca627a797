import { readFileSync } from 'node:fs';
import { publishedPackages, ROOT } from './packages.js';
import { pnpm } from './pnpm.js';

/** What a release reads of a bill of materials in CycloneDX. */
export interface Bill {
  bomFormat: string;
  specVersion: string;
  components: readonly Component[];
  [field: string]: unknown;
}

export interface Component {
  name: string;
  group?: string;
  version: string;
  purl: string;
  licenses?: readonly ({ license: { id?: string; name?: string } } | { expression: string })[];
}

/** All packages that are published, and all that those depend on, with licences and hashes. */
export async function billOfMaterials(): Promise<Bill> {
  const filters = publishedPackages().flatMap(({ manifest }) => ['--filter', manifest.name]);
  const options = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--prod'];
  return JSON.parse(await pnpm(ROOT, ...filters, 'sbom', ...options));
}

interface LicenceList {
  allowed: string[];
  packages: Record<string, { licence: string; because: string }>;
}

const LIST = new URL('licences.json', import.meta.url);

export function licenceList(): LicenceList {
  return JSON.parse(readFileSync(LIST, 'utf8'));
}

/** The components whose licence is neither on the list nor accepted for this package alone. */
export function refusedLicences(
  { components }: Pick<Bill, 'components'>,
  list = licenceList(),
): string[] {
  return components
    .filter((component) => {
      const accepted = list.packages[nameOf(component)]?.licence;
      return licencesOf(component).some(
        (licence) => licence !== accepted && !isAllowed(licence, list.allowed),
      );
    })
    .map((component) => `${nameOf(component)} ${component.version}: ${licencesOf(component)}`);
}

export function nameOf({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`;
}

function licencesOf({ licenses = [] }: Component): string[] {
  if (licenses.length === 0) return ['none'];
  return licenses.map((each) =>
    'expression' in each ? each.expression : (each.license.id ?? each.license.name ?? 'none'),
  );
}

/** `A OR B` needs one allowed licence, `A AND B` needs both, and AND binds closer. Any other text must be on the list. */
function isAllowed(licence: string, allowed: readonly string[]): boolean {
  const plain = licence.replace(/^\((.*)\)$/, '$1');
  if (allowed.includes(plain)) return true;
  if (/[()]/.test(plain)) return false;
  if (/ OR /i.test(plain)) return plain.split(/ OR /i).some((part) => isAllowed(part, allowed));
  if (/ AND /i.test(plain)) return plain.split(/ AND /i).every((part) => isAllowed(part, allowed));
  return false;
}
