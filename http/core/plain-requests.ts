/**
 * Parses paths and queries by the schemas of their route. Most requests have no query and many paths no parameters;
 * those results are computed once and shared.
 */
import type { Conventions } from './conventions.ts';
import type { AnyRoute } from './router.ts';

export class PlainRequests {
  readonly #params = new Map<AnyRoute, unknown>();
  readonly #queries = new Map<AnyRoute, unknown>();

  constructor(private readonly conventions: Pick<Conventions, 'check' | 'readQuery'>) {}

  /** @param given undefined for a path without parameters. Throws the refusal to send. */
  params(route: AnyRoute, given: Readonly<Record<string, string>> | undefined): unknown {
    const read = () => this.conventions.check(route.params, given ?? {}, route.invalidInput.params);
    return given === undefined ? once(this.#params, route, read) : read();
  }

  /** @param given query string without `?`. Throws the refusal to send. */
  query(route: AnyRoute, given: string | undefined): unknown {
    const read = () =>
      this.conventions.check(route.query, this.conventions.readQuery(given), route.invalidInput.query);
    return given === undefined || given === '' ? once(this.#queries, route, read) : read();
  }
}

function once(known: Map<AnyRoute, unknown>, route: AnyRoute, read: () => unknown): unknown {
  const kept = known.get(route);
  if (kept !== undefined) return kept;
  const made = Object.freeze(read());
  known.set(route, made);
  return made;
}
