/**
 * The grants of one tool under the policies of its last calls. Policies are compared by content, so
 * a list that an operator changed in place counts as changed.
 */
export class GrantCache<TPolicy, TGrant extends { isFor(policy: TPolicy): boolean }> {
  static readonly MAX_GRANTS = 64;
  readonly #build: (policy: TPolicy) => TGrant;
  #grants: TGrant[] = [];

  constructor(build: (policy: TPolicy) => TGrant) {
    this.#build = build;
  }

  get(policy: TPolicy): TGrant {
    for (const grant of this.#grants) if (grant.isFor(policy)) return grant;
    const grant = this.#build(policy);
    this.#grants.unshift(grant);
    if (this.#grants.length > GrantCache.MAX_GRANTS) this.#grants.pop();
    return grant;
  }
}

export function isSameList(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
