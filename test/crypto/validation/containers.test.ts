/** Checks of names and of META-INF/manifest.xml, which no signature of a container covers. */
import test from 'ava';
import {
  facts,
  type HandMade,
  made,
  memberOf,
  remade,
  replacing,
  validated,
  verdict,
} from '../asic/container-harness.ts';

/** Warnings of the file and of its signatures about the container, with their details. */
async function warnings(path: string): Promise<string[]> {
  const { results, signatures } = await validated(path);
  return [results, ...signatures.map((one) => one.results)]
    .flatMap((one) => one.warnings)
    .filter(({ type }) => /^(container|structure)\./.test(type))
    .map(({ type, detail }) => `${type} ${detail}`);
}

const renamed = (path: string, names: { readonly [from: string]: string }): string =>
  remade(path, (members) => members.map((one) => ({ ...one, name: names[one.name] ?? one.name })));

test('a container of one file with CAdES does not sign its name, and says so', async (t) => {
  const cades = await made('S', 'Cades');
  t.deepEqual(await warnings(cades), ['container.name report.txt']);
  const program = renamed(cades, { 'report.txt': 'report.exe' });
  t.is(await verdict(program), 'TOTAL-PASSED');
  t.deepEqual(await warnings(program), ['container.name report.exe']);
  const xades = await made('S', 'Xades');
  t.deepEqual(await warnings(xades), []);
  t.not(await verdict(renamed(xades, { 'report.txt': 'report.exe' })), 'TOTAL-PASSED');
});

const MANIFEST = 'META-INF/manifest.xml';

test('what META-INF/manifest.xml says is compared with what was signed', async (t) => {
  const path = await made('E', 'Xades');
  t.deepEqual(await warnings(path), []);
  const text = memberOf(path, MANIFEST).toString();
  const entry =
    /<manifest:file-entry manifest:full-path="report[^>]*><\/manifest:file-entry>/.exec(text)?.[0] ?? '';
  t.regex(entry, /text\/plain/);
  const type = 'container.media-type';
  const cases: readonly (readonly [change: (text: string) => string, expected: RegExp])[] = [
    [
      (same) => same.replace('text/plain', 'application/x-msdownload'),
      /report & more\.txt: application\/x-msdownload, signed text\/plain/,
    ],
    [(same) => same.replace('"text/plain"', '""'), /signed text\/plain/],
    [(same) => same.replace(entry, ''), /report & more\.txt/],
    [(same) => same.replace(entry, entry + entry.replace('report &amp; more', 'other')), /other\.txt/],
    [(same) => same.replace(entry, entry + entry), /report & more\.txt/],
    [(same) => same.replace('asic-e+zip', 'asic-s+zip'), /asic-s\+zip/],
    [(same) => `<!DOCTYPE a>${same.slice(same.indexOf('?>') + 2)}`, /DOCTYPE/],
    [() => '<other/>', /no manifest/],
    [() => 'x', /XML/],
  ];
  for (const [change, expected] of cases) {
    const changed = remade(
      path,
      replacing(MANIFEST, (bytes) => Buffer.from(change(bytes.toString()))),
    );
    t.is(await verdict(changed), 'TOTAL-PASSED', String(change));
    const [found = '', ...more] = await warnings(changed);
    t.deepEqual(more, [], String(change));
    t.true(found.startsWith(type), String(change));
    t.regex(found, expected, String(change));
  }
  const parameter = remade(
    path,
    replacing(MANIFEST, (bytes) =>
      Buffer.from(bytes.toString().replace('"text/plain"', '"TEXT/plain; charset=utf-8"')),
    ),
  );
  t.deepEqual(await warnings(parameter), []);
});

test('the media types of a signed manifest count as well', async (t) => {
  const xades = await made('E', 'Xades');
  const cades = await made('E', 'Cades');
  const manifest: HandMade = { name: MANIFEST, bytes: memberOf(xades, MANIFEST) };
  const withIt = (change: (text: string) => string): string =>
    remade(cades, (all) => [
      ...all.filter(({ name }) => name !== MANIFEST),
      { ...manifest, bytes: Buffer.from(change(manifest.bytes.toString())) },
    ]);
  t.deepEqual(await warnings(withIt((same) => same)), []);
  const [found = ''] = await warnings(withIt((same) => same.replace('text/plain', 'text/html')));
  t.regex(found, /^container\.media-type .*text\/html, signed text\/plain/);
});

test('names in META-INF in other letters are seen, with a warning', async (t) => {
  const cades = await made('E', 'Cades');
  const xades = await made('E', 'Xades');
  const small = (path: string, name: string, other: string) => renamed(path, { [name]: other });
  for (const path of [
    small(cades, 'META-INF/ASiCManifest001.xml', 'META-INF/asicmanifest001.xml'),
    small(xades, 'META-INF/signatures001.xml', 'META-INF/SIGNATURES001.XML'),
    small(xades, MANIFEST, 'META-INF/Manifest.xml'),
  ]) {
    t.is(await verdict(path), 'TOTAL-PASSED');
    const [found = ''] = await warnings(path);
    t.regex(found, /^container\.names META-INF\//);
  }
  t.regex(await verdict(small(xades, MANIFEST, 'meta-inf/manifest.xml')), /^TOTAL-FAILED/);
});

test('names of a manifest are resolved as references, and none is listed twice', async (t) => {
  const cades = await made('E', 'Cades');
  const name = 'META-INF/ASiCManifest001.xml';
  const change = async (edit: (text: string) => string): Promise<readonly string[]> => {
    const path = remade(
      cades,
      replacing(name, (bytes) => Buffer.from(edit(bytes.toString()))),
    );
    return facts(path).signatures.flatMap(({ findings }) =>
      findings
        .filter(({ status }) => status !== 'passed')
        .map(({ type, subIndication }) => `${type} ${subIndication}`),
    );
  };
  // The signature does not fit what was changed; the files do.
  const signature = 'digest.content HASH_FAILURE';
  t.deepEqual(await change((text) => text.replace(' URI="report', ' URI="./report')), [signature]);
  t.deepEqual(await change((text) => text.replace(' URI="bestellungen/', ' URI="././bestellungen/./')), [
    signature,
  ]);
  t.deepEqual(await change((text) => text.replace('<ds:DigestValue>', '<ds:DigestValue><!-- x -->')), [
    signature,
    'structure.comment undefined',
  ]);
  for (const uri of ['../report', './../report', '%2E/report', '/./report', './/report'])
    t.true(
      (await change((text) => text.replace(' URI="report', ` URI="${uri}`))).includes(
        'digest.member SIGNED_DATA_NOT_FOUND',
      ),
      uri,
    );
  const one =
    /<asic:DataObjectReference[^>]* URI="report.*?<\/asic:DataObjectReference>/.exec(
      memberOf(cades, name).toString(),
    )?.[0] ?? '';
  const doubled = remade(
    cades,
    replacing(name, (bytes) =>
      Buffer.from(bytes.toString().replace(one, one + one.replace('URI="', 'URI="./'))),
    ),
  );
  t.regex(await verdict(doubled), /^TOTAL-FAILED .*structure\.manifest/);
});

test('a container that is not read is not called broken', async (t) => {
  const cades = await made('E', 'Cades');
  const name = 'META-INF/ASiCManifest001.xml';
  const dtd = remade(
    cades,
    replacing(name, (bytes) =>
      Buffer.from(bytes.toString().replace('<asic:ASiCManifest', '<!DOCTYPE a><asic:ASiCManifest')),
    ),
  );
  t.regex(await verdict(dtd), /^INDETERMINATE .*structure\.manifest/);
  const other = remade(
    cades,
    replacing(name, () => Buffer.from('<other/>')),
  );
  t.regex(await verdict(other), /^TOTAL-FAILED .*structure\.manifest/);
  const critical =
    '<asic:ASiCManifestExtensions><asic:Extension Critical="true"/></asic:ASiCManifestExtensions></asic:ASiCManifest>';
  const extended = remade(
    cades,
    replacing(name, (bytes) => Buffer.from(bytes.toString().replace('</asic:ASiCManifest>', critical))),
  );
  t.regex(await verdict(extended), /^INDETERMINATE .*structure\.manifest/);
  const packed = remade(cades, (members) =>
    members.map((one) => ({ ...one, method: one.name === name ? 12 : 0 })),
  );
  t.is(await verdict(packed), 'INDETERMINATE container.unsupported');
});
