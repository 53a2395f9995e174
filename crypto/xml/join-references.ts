/**
 * Joins two `xml:base` values (Canonical XML 1.1 §2.4): RFC 3986 §5.2 with a possibly relative base; leading `..`
 * segments stay and repeated slashes become one.
 */

interface ReferenceChunks {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
}

/** RFC 3986 appendix B; text that can't be a scheme belongs to the path. */
const REFERENCE =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*)(?![^/?#]))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** Joins two references; both, and the result, may be relative or empty. */
export function joinReferences(base: string, reference: string): string {
  const from = parse(base);
  const to = parse(reference);
  if (to.scheme !== undefined) return text({ ...to, path: withoutDots(to.path) });
  if (to.authority !== undefined) return text({ ...to, scheme: from.scheme, path: withoutDots(to.path) });
  if (to.path === '') return text({ ...from, path: withoutDots(from.path), query: to.query ?? from.query });
  const path = to.path.startsWith('/') ? to.path : merged(from, to.path);
  return text({ ...from, path: withoutDots(path), query: to.query });
}

function parse(reference: string): ReferenceChunks {
  const [, scheme, authority, path = '', query] = REFERENCE.exec(reference) ?? [];
  return { scheme, authority, path, query };
}

/** RFC 3986 §5.2.3. A base that ends in `.` or `..` is a folder, as with a trailing slash. */
function merged(base: ReferenceChunks, path: string): string {
  if (base.authority !== undefined && base.path === '') return `/${path}`;
  const folder = /(?:^|\/)\.\.?$/.test(base.path) ? `${base.path}/` : base.path;
  return folder.slice(0, folder.lastIndexOf('/') + 1) + path;
}

/** RFC 3986 §5.2.4, except that relative paths keep leading `..` segments. */
function withoutDots(path: string): string {
  const absolute = path.startsWith('/');
  const segments = path.split(/\/+/);
  const folder = /(?:^|\/)\.{0,2}$/.test(path);
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!absolute) kept.push('..');
  }
  const inside = kept.join('/');
  return `${absolute ? '/' : ''}${inside}${folder && inside !== '' ? '/' : ''}`;
}

function text({ scheme, authority, path, query }: ReferenceChunks): string {
  return (
    (scheme === undefined ? '' : `${scheme}:`) +
    (authority === undefined ? '' : `//${authority}`) +
    path +
    (query === undefined ? '' : `?${query}`)
  );
}
