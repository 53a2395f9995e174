/** A file of each role that the table of names has, with each content, added to each form of container: none passes in silence. */
import test from 'ava';
import { type MemberRole, roleOf } from '#crypto/asic/container.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { type HandMade, made, remade, replacing, unpacked, validated } from './container-harness.ts';

/** One name for each role of a file in META-INF. */
const NAMES: { readonly [role in Exclude<MemberRole, 'mimetype' | 'data' | 'folder'>]: readonly string[] } = {
  xades: ['x-signatures9.xml'],
  cades: ['x-signature9.p7s'],
  manifest: ['ASiCManifest9.xml'],
  'archive-manifest': ['ASiCArchiveManifest9.xml'],
  timestamp: ['timestamp9.tst'],
  'evidence-record': ['ASiCEvidenceRecordManifest9.xml', 'evidencerecord9.ers'],
  package: ['manifest.xml'],
  unknown: ['x.bin', 'signatures9.xml.bak', 'x/signatures9.xml'],
};

/** Everything that a report says of a file but what passed. */
function complaints({ indication, results, signatures }: ValidationReport): string {
  const all = [results, ...signatures.map((signature) => signature.results)];
  const said = all.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  return JSON.stringify([indication, signatures.length, said.map(({ type, detail }) => [type, detail])]);
}

/** Number of signatures that count. */
const passedOf = ({ signatures }: ValidationReport): number =>
  signatures.filter(({ indication }) => indication === 'TOTAL-PASSED').length;

const FORMS = [
  ['S', 'Cades'],
  ['S', 'Xades'],
  ['E', 'Cades'],
  ['E', 'Xades'],
] as const;

test('each role has a name', (t) => {
  for (const [role, names] of Object.entries(NAMES))
    for (const name of names) t.is(roleOf(`META-INF/${name}`), role as MemberRole, name);
});

test('a file of signatures in another form than that of the standard is named', async (t) => {
  const warned = async (path: string, name: string, change: (bytes: Buffer) => Buffer) => {
    const report = await validated(remade(path, replacing(name, change)));
    const own = report.results.warnings.filter(({ type }) => type === 'container.signatures');
    return [report.indication, ...own.map(({ detail }) => detail)].join(' ');
  };
  const xades = await made('E', 'Xades');
  const xml = 'META-INF/signatures001.xml';
  const text = (change: (same: string) => string) => (bytes: Buffer) => Buffer.from(change(bytes.toString()));
  t.is(await warned(xades, xml, (same) => same), 'TOTAL-PASSED');
  t.is(
    await warned(
      xades,
      xml,
      text((same) => same.replaceAll('asic:XAdESSignatures', 'asic:Bills')),
    ),
    `TOTAL-PASSED ${xml}: its root is Bills`,
  );
  t.is(
    await warned(
      xades,
      xml,
      text((same) => /<ds:Signature.*<\/ds:Signature>/s.exec(same)?.[0] ?? ''),
    ),
    'TOTAL-PASSED',
  );
  for (const [kind, name] of [
    ['S', 'META-INF/signature.p7s'],
    ['E', 'META-INF/signature001.p7s'],
  ] as const) {
    const armoured = (der: Buffer) =>
      Buffer.from(`-----BEGIN PKCS7-----\n${der.toString('base64')}\n-----END PKCS7-----\n`);
    const path = await made(kind, 'Cades');
    t.is(await warned(path, name, armoured), `TOTAL-PASSED ${name}: it is text`);
    t.is(await warned(path, name, (same) => same), 'TOTAL-PASSED');
  }
});

for (const [kind, format] of FORMS) {
  test(`ASiC-${kind} with ${format}: a further file in META-INF, of any role and content, is named`, async (t) => {
    const path = await made(kind, format, { level: 'T' });
    const others = await Promise.all(FORMS.map(async (form) => unpacked(await made(form[0], form[1]))));
    const contents = new Map<string, Buffer>([
      ['nothing', Buffer.alloc(0)],
      ['text', Buffer.from('text')],
      ['an element', Buffer.from('<a/>')],
    ]);
    for (const [index, members] of [unpacked(path), ...others].entries())
      for (const { name, bytes } of members)
        if (name.startsWith('META-INF/')) contents.set(`${index} ${name}`, bytes);
    const base = complaints(await validated(path));
    const taken = new Set(unpacked(path).map(({ name }) => name));
    for (const name of Object.values(NAMES).flat()) {
      if (taken.has(`META-INF/${name}`)) continue;
      for (const [what, bytes] of contents) {
        const member: HandMade = { name: `META-INF/${name}`, bytes };
        const report = await validated(remade(path, (members) => [...members, member]));
        const isHonest = name === 'manifest.xml' && what.endsWith('META-INF/manifest.xml');
        if (!isHonest) t.not(complaints(report), base, `${name}: ${what}`);
        if (what.startsWith('0 ')) t.true(passedOf(report) <= 1, `${name}: ${what}`);
      }
    }
  });
}
