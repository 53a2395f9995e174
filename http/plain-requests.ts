/**
 * What the schemas of a route make of the request's path and query. Most requests have no query and many paths no
 * parameters; what comes of those is made once and given to all.
 */
import type { Conventions } from './conventions.ts';
import type { AnyRoute } from './router.ts';

export class PlainRequests {
  readonly #conventions: Pick<Conventions, 'check' | 'readQuery'>;
  readonly #params = new Map<AnyRoute, never>();
  readonly #queries = new Map<AnyRoute, never>();

  constructor(conventions: Pick<Conventions, 'check' | 'readQuery'>) {
    this.#conventions = conventions;
  }

  /** @param given undefined for a path without parameters. Throws what the client is to be told. */
  params(route: AnyRoute, given: Readonly<Record<string, string>> | undefined): never {
    const read = () => this.#conventions.check(route.params, given ?? {}, route.unfit.params);
    return given === undefined ? once(this.#params, route, read) : read();
  }

  /** @param given what stands behind `?`. Throws what the client is to be told. */
  query(route: AnyRoute, given: string | undefined): never {
    const read = () =>
      this.#conventions.check(route.query, this.#conventions.readQuery(given), route.unfit.query);
    return given === undefined || given === '' ? once(this.#queries, route, read) : read();
  }
}

function once(known: Map<AnyRoute, never>, route: AnyRoute, read: () => never): never {
  const kept = known.get(route);
  if (kept !== undefined) return kept;
  const made = Object.freeze(read());
  known.set(route, made);
  return made;
}
