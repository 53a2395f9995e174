/** Every canonicalization method, compared with libxml2 for the same documents and elements. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { joinReferences } from '#crypto/xml/canonical.js';
import {
  attributeValue,
  type CanonicalMethod,
  type CanonicalPlace,
  canonicalize,
  type Name,
  Names,
  readXml,
  ScopeTracker,
  type StartTag,
  type XmlListener,
} from '#crypto/xml/index.js';
import { runTool, withTools } from '../../verifiers/tool.ts';
import { generateDocument, seeded } from './documents.ts';

const toolTest = withTools(test, 'xmllint', 'xmlsec1');

const folder = mkdtempSync(join(tmpdir(), 'sealwright-methods-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

class Pieces {
  readonly parts: Buffer[] = [];
  update(bytes: Buffer): void {
    this.parts.push(Buffer.from(bytes));
  }
  get text(): string {
    return Buffer.concat(this.parts).toString();
  }
}

/** Finds the elements with an `xml:id`, and their inherited scope. */
class Finder implements XmlListener {
  readonly places = new Map<string, CanonicalPlace>();
  readonly #utf8: Buffer;
  readonly #scopes: ScopeTracker;
  readonly #open: {
    readonly id: string | undefined;
    readonly start: number;
    readonly scope: CanonicalPlace['scope'];
  }[] = [];
  constructor(utf8: Buffer) {
    this.#utf8 = utf8;
    this.#scopes = new ScopeTracker(utf8);
  }
  startElement(tag: StartTag): void {
    const scope = this.#scopes.current;
    this.#scopes.enter(tag);
    const id = tag.attributes.slice(0, tag.attributeCount).find(({ name }) => name.text === 'xml:id');
    this.#open.push({ id: id && attributeValue(this.#utf8, id), start: tag.start, scope });
  }
  endElement(_name: Name, _start: number, end: number): void {
    this.#scopes.leave();
    const { id, start, scope } = this.#open.pop() ?? {};
    if (id !== undefined && start !== undefined) this.places.set(id, { start, end, scope });
  }
  text(): void {}
  character(): void {}
  instruction(): void {}
  comment(): void {}
}

const method = (
  kind: CanonicalMethod['kind'],
  comments = false,
  prefixes: readonly string[] = [],
): CanonicalMethod => ({ kind, comments, prefixes });

function whole(text: string, by: CanonicalMethod): string {
  const pieces = new Pieces();
  canonicalize({ utf8: Buffer.from(text), names: new Names() }, undefined, { method: by, sink: pieces });
  return pieces.text;
}

/** Canonicalizes the element whose `xml:id` is `id`. */
function part(text: string, id: string, by: CanonicalMethod): string {
  const utf8 = Buffer.from(text);
  const names = new Names();
  const finder = new Finder(utf8);
  readXml(utf8, finder, names);
  const pieces = new Pieces();
  canonicalize({ utf8, names }, finder.places.get(id), { method: by, sink: pieces });
  return pieces.text;
}

/**
 * Bases for which libxml2 and Canonical XML 1.1 §2.4 agree: libxml2 keeps dot segments of absolute references, and
 * final `..`.
 */
const BASES = [
  '../',
  'a',
  'a/',
  'a/b',
  './b',
  '/r',
  '/r/s/t',
  '//h/p',
  'a?q',
  'urn:x',
  'http://o',
  'http://o/p/q',
  'a//b',
  'f.xml',
];

/** Rewrites `xml:base` values as references; other values have no defined join. */
function rebased(text: string, pick: () => string): string {
  return text.replace(/xml:base\s*=\s*(?:"[^"]*"|'[^']*')/g, () => `xml:base="${pick()}"`);
}

for (const [option, kind] of [
  ['--c14n', 'inclusive-1.0'],
  ['--c14n11', 'inclusive-1.1'],
  ['--exc-c14n', 'exclusive'],
] as const) {
  toolTest(
    `three hundred generated documents get the canonical bytes of xmllint ${option}, comments kept`,
    async (t) => {
      for (let batch = 0; batch < 300; batch += 20) {
        const texts = Array.from({ length: 20 }, (_, index) =>
          // Canonical XML 1.1 drops an empty base only where it joined one; libxml2 drops every one.
          rebased(generateDocument(1000 + batch + index).text, () => 'a/./b'),
        );
        const paths = texts.map((text, index) => {
          const path = join(folder, `${kind}-${index}.xml`);
          writeFileSync(path, text);
          return path;
        });
        const { stdout } = await runTool('xmllint', ['--nonet', option, ...paths]);
        const ours = texts.map((text) => whole(text, method(kind, true))).join('');
        t.true(stdout === ours, `seeds from ${1000 + batch}`);
      }
    },
  );
}

const ALGORITHMS = {
  'inclusive-1.0': 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  'inclusive-1.1': 'http://www.w3.org/2006/12/xml-c14n11',
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
} as const;

toolTest.serial(
  'single elements get the canonical bytes that xmlsec1 digests, by every method',
  async (t) => {
    const key = join(folder, 'hmac.key');
    writeFileSync(key, 'any key will do: only the digests are looked at');
    let compared = 0;
    for (let seed = 1; seed <= 120; seed++) {
      const random = seeded(seed);
      const { uncommented, elements } = generateDocument(seed, { ids: true });
      const base = (): string => BASES[Math.floor(random() * BASES.length)] ?? '';
      const cases = Array.from({ length: 8 }, () => {
        const kind =
          (['inclusive-1.0', 'inclusive-1.1', 'exclusive'] as const)[Math.floor(random() * 3)] ?? 'exclusive';
        const prefixes =
          kind === 'exclusive' ? ['', 'a', 'b', 'c', 'ns1', 'xml'].filter(() => random() < 0.4) : [];
        return { id: `e${Math.floor(random() * elements)}`, by: method(kind, false, prefixes) };
      });
      const body = uncommented
        .replace(/^<\?xml [^>]*\?>/, '')
        .replace(/<\?(?:[^?]|\?(?!>))*\?>\s*$/, '')
        .replace(/^\s*(<\?(?:[^?]|\?(?!>))*\?>\s*)*/, '');
      const references = cases.map(({ id, by }) => {
        const list = by.prefixes.map((prefix) => (prefix === '' ? '#default' : prefix)).join(' ');
        const parameters =
          by.prefixes.length === 0
            ? ''
            : `<i:InclusiveNamespaces xmlns:i="${ALGORITHMS.exclusive}" PrefixList="${list}"/>`;
        return `<Reference URI="#${id}"><Transforms><Transform Algorithm="${ALGORITHMS[by.kind]}">${parameters}</Transform></Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue/></Reference>`;
      });
      const text = `<w xml:base="${base()}" xml:lang="de" xmlns:c="urn:outer" xmlns="urn:default"><v xml:base="${base()}" xml:space="preserve">${rebased(body, base)}</v><Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="${ALGORITHMS.exclusive}"/><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"/>${references.join('')}</SignedInfo><SignatureValue/></Signature></w>`;
      const input = join(folder, 'template.xml');
      const output = join(folder, 'signed.xml');
      rmSync(output, { force: true });
      writeFileSync(input, text);
      const run = await runTool('xmlsec1', ['--sign', '--hmackey', key, '--output', output, input]);
      t.is(run.exit, 0, `seed ${seed}: ${run.stderr}`);
      const digests = [...readFileSync(output, 'utf8').matchAll(/<DigestValue>([^<]*)<\/DigestValue>/g)].map(
        ([, value]) => value,
      );
      for (const [index, { id, by }] of cases.entries()) {
        const ours = part(text, id, by);
        compared++;
        t.is(
          createHash('sha256').update(ours).digest('base64'),
          digests[index] ?? '',
          `seed ${seed}, ${id}, ${JSON.stringify(by)}\n${ours.slice(0, 300)}`,
        );
      }
    }
    t.is(compared, 960);
  },
);

test('xml:base values are joined as Canonical XML 1.1 says, leading and final dots included', (t) => {
  const joins: readonly (readonly [string, string, string])[] = [
    ['http://example.org/a/b', '../c/./d', 'http://example.org/c/d'],
    ['a/b', '../../c', '../c'],
    ['..', '..', '../../'],
    ['../', 'x', '../x'],
    ['abc/', '../', ''],
    ['a//b/', 'c', 'a/b/c'],
    ['http://o', 'p', 'http://o/p'],
    ['http://o/x?q#f', '?r', 'http://o/x?r'],
    ['http://o/x', '//h/../p', 'http://h/p'],
    ['a', 'http://o/../z', 'http://o/z'],
  ];
  for (const [base, reference, joined] of joins)
    t.is(joinReferences(base, reference), joined, `${base} and ${reference}`);
});

test('a namespace repeated beyond the size limit of the canonical form is refused, and a large legitimate one is accepted', (t) => {
  const bomb = (length: number): string =>
    `<r xmlns:a="urn:${'x'.repeat(length)}">${'<a:b/>'.repeat(20_000)}</r>`;
  t.true(whole(bomb(100), method('exclusive')).length > 2_000_000);
  t.throws(() => whole(bomb(100_000), method('exclusive')), { code: 'input.too-large' });
  t.true(whole(bomb(100_000), method('inclusive-1.0')).length < 1_000_000);
});
