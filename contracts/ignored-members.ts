/** Names the members of a body that its schema ignores. Source: docs/portal-values.md §1 row 4. */

/** Maximum number of names, and of characters of the list. */
const MAX_NAMES = 10;
const MAX_LIST = 200;
/** Stands for names that have no place. */
const MORE = '...';

/** Unknown members of the objects that are being read, by object; undefined: nobody asks. Reading waits for nothing. */
let found: Map<object, readonly string[]> | undefined;

/** Called for each object that is read: of several alternatives, the last one counts. @param names undefined: none */
export function noteIgnored(object: object, names: readonly string[] | undefined): void {
  if (names !== undefined) found?.set(object, names);
  else if (found !== undefined && found.size > 0) found.delete(object);
}

export interface WithIgnored<T> {
  readonly value: T;
  /** Paths of the members that were ignored, `name, files[0].size`, in printable ASCII; undefined: none. */
  readonly ignored: string | undefined;
}

/** Reads a JSON value by a function of schemas. */
export function namingIgnored<T>(given: unknown, read: () => T): WithIgnored<T> {
  const noted = new Map<object, readonly string[]>();
  found = noted;
  try {
    const value = read();
    return { value, ignored: noted.size === 0 ? undefined : listOf(given, noted) };
  } finally {
    found = undefined;
  }
}

function listOf(given: unknown, noted: Map<object, readonly string[]>): string | undefined {
  const paths: string[] = [];
  addPaths(given, '', { noted, paths });
  let list = '';
  for (const [index, path] of paths.entries()) {
    const longer = index === 0 ? path : `${list}, ${path}`;
    if (index === MAX_NAMES || longer.length > MAX_LIST - MORE.length - 2)
      return list === '' ? MORE : `${list}, ${MORE}`;
    list = longer;
  }
  return list === '' ? undefined : list;
}

/** Adds the paths below a value until each noted object is found, or there are more than are listed. */
function addPaths(
  value: unknown,
  path: string,
  into: { readonly noted: Map<object, readonly string[]>; readonly paths: string[] },
): void {
  if (into.noted.size === 0 || into.paths.length > MAX_NAMES) return;
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  const below = (name: string) => `${path}${path === '' ? '' : '.'}${encoded(name)}`;
  for (const name of into.noted.get(value)?.slice(0, MAX_NAMES + 1) ?? []) into.paths.push(below(name));
  into.noted.delete(value);
  for (const [name, inner] of Object.entries(value))
    addPaths(inner, isList ? `${path}[${name}]` : below(name), into);
}

/** Cut first, because the name is the client's; a buffer replaces surrogates without their half. */
function encoded(name: string): string {
  return encodeURIComponent(Buffer.from(name.slice(0, MAX_LIST)).toString());
}
