import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { decodeXml, ExclusiveCanonicalizer, readXml } from '#crypto/xml/index.js';
import { withTools } from '../../verifiers/tool.ts';
import { generateDocument } from './documents.ts';

const toolTest = withTools(test, 'xmllint');

function canonical(document: Buffer): string {
  const { utf8 } = decodeXml(document);
  const parts: Buffer[] = [];
  const canonicalizer = new ExclusiveCanonicalizer(utf8, {
    update: (bytes) => parts.push(Buffer.from(bytes)),
  });
  readXml(utf8, canonicalizer);
  canonicalizer.finish();
  return Buffer.concat(parts).toString();
}

const of = (text: string): string => canonical(Buffer.from(text));

/** Canonicalizes by xmllint, which keeps comments; the documents must have none. */
function byXmllint(t: ExecutionContext, documents: readonly Buffer[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-c14n-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return documents.map((document, index) => {
    const path = join(folder, `${index}.xml`);
    writeFileSync(path, document);
    return execFileSync('xmllint', ['--nonet', '--exc-c14n', path], {
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 << 20,
    }).toString();
  });
}

toolTest('generated documents get the canonical bytes that xmllint gives them', (t) => {
  const seeds = Array.from({ length: 300 }, (_, index) => index + 1);
  const documents = seeds.map((seed) => generateDocument(seed));
  const expected = byXmllint(
    t,
    documents.map(({ uncommented }) => Buffer.from(uncommented)),
  );
  for (const [index, { text }] of documents.entries())
    t.true(of(text) === expected[index], `seed ${seeds[index]}`);
});

toolTest('documents in every accepted encoding get the canonical bytes that xmllint gives them', (t) => {
  const body = '<r é="ü">Größe &#8364; <ä xmlns="urn:o"/>\r\n</r>';
  const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?>\r\n${body}`;
  const big = Buffer.from(`\uFEFF${declared('UTF-16')}`, 'utf16le').swap16();
  const documents = [
    Buffer.from(body),
    Buffer.from(`\uFEFF${body}`),
    Buffer.from(`\uFEFF${declared('utf-8')}`),
    Buffer.from(`\uFEFF${declared('UTF-16')}`, 'utf16le'),
    Buffer.from(`\uFEFF${body}`, 'utf16le'),
    big,
    Buffer.from(declared('ISO-8859-1'), 'latin1'),
    Buffer.from('<?xml version="1.0" encoding="US-ASCII"?><r a="&#xE9;">&#252;</r>'),
  ];
  const expected = byXmllint(t, documents);
  for (const [index, document] of documents.entries())
    t.is(canonical(document), expected[index] ?? '', `document ${index}`);
});

test('a namespace name is escaped like an attribute value', (t) => {
  // Not compared with xmllint, which writes such a name unescaped and thus not well-formed.
  t.is(
    of('<r xmlns="http://example.org/?a=1&amp;b=&quot;"/>'),
    '<r xmlns="http://example.org/?a=1&amp;b=&quot;"></r>',
  );
});

test('a namespace is declared at its first visible use, and undeclared at its end', (t) => {
  t.is(
    of('<a:r xmlns:a="urn:a" xmlns:b="urn:b" xmlns:c="urn:c"><b:x c:y="1"/><b:x/></a:r>'),
    '<a:r xmlns:a="urn:a"><b:x xmlns:b="urn:b" xmlns:c="urn:c" c:y="1"></b:x><b:x xmlns:b="urn:b"></b:x></a:r>',
  );
  t.is(of('<r xmlns="urn:a"><x xmlns=""><y/></x></r>'), '<r xmlns="urn:a"><x xmlns=""><y></y></x></r>');
  t.is(of('<r xmlns=""><x xmlns=""/></r>'), '<r><x></x></r>');
});

test('a prefix with another namespace is redeclared inside, and the outer one applies after it', (t) => {
  t.is(
    of('<a:r xmlns:a="urn:1"><a:x xmlns:a="urn:2"><a:y/></a:x><a:z/></a:r>'),
    '<a:r xmlns:a="urn:1"><a:x xmlns:a="urn:2"><a:y></a:y></a:x><a:z></a:z></a:r>',
  );
});

test('names are those of their own document, whatever documents were read before', (t) => {
  for (const uri of ['urn:1', 'urn:2', 'urn:1'])
    t.is(of(`<a:r xmlns:a="${uri}" a:b="1" />`), `<a:r xmlns:a="${uri}" a:b="1"></a:r>`);
  t.throws(() => of('<a:r/>'), { message: /"a" is not declared/ });
  // More than are kept for the next documents. By the blank before "/" the names are written, not copied.
  const names = Array.from({ length: 3000 }, (_, index) => `n${index}`);
  for (const list of [names, names.toReversed()]) {
    const document = `<r>${list.map((name) => `<${name} />`).join('')}</r>`;
    t.is(of(document), `<r>${list.map((name) => `<${name}></${name}>`).join('')}</r>`);
  }
});

test('attributes are ordered by namespace name, then local name, regardless of prefixes', (t) => {
  t.is(
    of('<r xmlns:z="urn:a" xmlns:a="urn:z" a:b="1" z:c="2" b="3" a="4" z:b="5" xml:lang="en"/>'),
    '<r xmlns:a="urn:z" xmlns:z="urn:a" a="4" b="3" xml:lang="en" z:b="5" z:c="2" a:b="1"></r>',
  );
});

test('attributes are ordered by code point, not by UTF-16 unit', (t) => {
  t.is(of('<r \u{10000}="1" \uFA00="2"/>'), '<r \uFA00="2" \u{10000}="1"></r>');
});

test('instructions outside the root have lines of their own, and comments are removed', (t) => {
  t.is(
    of('<?xml version="1.0"?><?a  b?><!-- c --><?d?>\n<r>x<!-- y -->z<?e  f ?></r><!-- g --><?h?>\n'),
    '<?a b?>\n<?d?>\n<r>xz<?e f ?></r>\n<?h?>',
  );
});

test('a large document has the same canonical bytes at every chunk border', (t) => {
  const rows = Array.from(
    { length: 4000 },
    (_, index) => `<row n='${index}'>${'v'.repeat(index % 70)}&gt;</row>`,
  );
  const expected = rows.map((row) => row.replace(/'/g, '"')).join('');
  t.is(of(`<r>${rows.join('')}</r>`), `<r>${expected}</r>`);
});
