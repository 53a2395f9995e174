/** Generated documents: equal seeds give equal documents, so that failures are reproducible. */

/** Creates a small seeded random generator (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface GeneratedDocument {
  /** Document with comments. */
  readonly text: string;
  /** Document without comments. */
  readonly uncommented: string;
  /** Number of elements; with `ids` they have `xml:id="e0"` and so on. */
  readonly elements: number;
}

const URIS = ['urn:a', 'urn:b', 'http://example.org/ns?x=1;y=2', "http://example.org/'q", 'urn:x:%C3%BC'];
const PREFIXES = ['a', 'b', 'c', 'ns1', 'ünï', 'ds'];
const LOCALS = ['item', 'Item', 'x', 'y-1', 'z.2', '_u', 'größe', '名', 'A'];
const VALUES = [
  'plain',
  '',
  'a &lt; b &amp;&amp; c',
  'tab&#9;lf&#10;cr&#13;end',
  ' spaces  and\tliteral\ttabs\nand\nlines ',
  'crlf\r\nhere\rthere',
  'quotes &quot;&apos;',
  'ümläut 漢字 \u{1F600}',
  'gt > here',
  '&#x1F600;&#xE9;&#233;',
  '\uFEFF\uFFFD！',
];
const TEXTS = [
  ...VALUES,
  'a]]b',
  ']] &gt;',
  '\r\r\n\n\r',
  '<![CDATA[<raw> & "text" ]] > \r\n end]]>',
  '<![CDATA[]]>',
  '"double" \'single\'',
  'x'.repeat(2000),
];
const INSTRUCTIONS = ['<?go?>', '<?go   now ?>', '<?style href="a.css"\r\n type="x"?>', '<?q a?b > c?>'];
const COMMENTS = ['<!-- a </r> b -->', '<!---->', '<!-- <?x?> & -->'];

export function generateDocument(seed: number, options: { readonly ids?: boolean } = {}): GeneratedDocument {
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const chance = (share: number): boolean => random() < share;
  const marked: string[] = [];
  const comments = new Set<number>();
  let elements = 0;
  const comment = (): void => {
    if (chance(0.15)) comments.add(marked.push(pick(COMMENTS)) - 1);
  };
  const space = (): string => pick([' ', ' ', ' ', '  ', '\n\t', '\r\n']);

  const element = (depth: number, scope: ReadonlyMap<string, string>): void => {
    const inner = new Map(scope);
    const parts: string[] = [];
    for (const prefix of PREFIXES) {
      if (!chance(depth === 0 ? 0.4 : 0.08)) continue;
      const uri = pick(URIS);
      inner.set(prefix, uri);
      parts.push(`xmlns:${prefix}=${quoted(uri)}`);
    }
    if (chance(0.2)) {
      const uri = chance(0.3) ? '' : pick(URIS);
      inner.set('', uri);
      parts.push(`xmlns=${quoted(uri)}`);
    }
    const declared = [...inner.keys()].filter((prefix) => prefix !== '');
    const qualified = (): string =>
      declared.length > 0 && chance(0.5) ? `${pick(declared)}:${pick(LOCALS)}` : pick(LOCALS);
    const used = new Set<string>();
    for (let count = Math.floor(random() * 5); count > 0; count--) {
      const name = chance(0.1) ? pick(['xml:lang', 'xml:space', 'xml:base']) : qualified();
      const [prefix, local] = name.includes(':') ? name.split(':') : ['', name];
      const key = `${prefix === 'xml' ? 'xml' : prefix === '' ? '' : inner.get(prefix ?? '')} ${local}`;
      if (used.has(key)) continue;
      used.add(key);
      parts.push(`${name}${chance(0.1) ? ' = ' : '='}${quoted(pick(VALUES))}`);
    }
    parts.sort(() => random() - 0.5);
    if (options.ids) parts.push(`xml:id="e${elements}"`);
    elements++;
    const name = qualified();
    marked.push(`<${name}${parts.map((part) => space() + part).join('')}${chance(0.1) ? space() : ''}`);
    if (chance(0.15)) {
      marked.push('/>');
      return;
    }
    marked.push('>');
    for (let count = Math.floor(random() * (depth < 5 ? 5 : 2)); count > 0; count--) {
      comment();
      const kind = random();
      if (kind < 0.45 && depth < 8) element(depth + 1, inner);
      else if (kind < 0.9) marked.push(pick(TEXTS));
      else marked.push(pick(INSTRUCTIONS));
    }
    comment();
    marked.push(`</${name}${chance(0.1) ? space() : ''}>`);
  };
  const quoted = (value: string): string =>
    value.includes("'") || chance(0.7) ? `"${value}"` : `'${value.includes('"') ? '' : value}'`;

  if (chance(0.5)) marked.push('<?xml version="1.0" encoding="UTF-8"?>', pick(['', '\n', '\r\n']));
  comment();
  if (chance(0.3)) marked.push(pick(INSTRUCTIONS), pick(['', '\n']));
  comment();
  element(0, new Map());
  comment();
  if (chance(0.3)) marked.push(pick(['', '\n']), pick(INSTRUCTIONS));
  comment();
  return {
    elements,
    text: marked.join(''),
    uncommented: marked.filter((_, index) => !comments.has(index)).join(''),
  };
}
