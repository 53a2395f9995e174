import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'ava';
import { addAsicSignature } from '#crypto/asic/add-signature.js';
import { signAsic } from '#crypto/asic/sign.js';
import { opensslCms, runTool, withTools, xmlsec1 } from '../../verifiers/index.ts';
import { codeOf } from '../cades/cades-harness.ts';
import {
  at,
  authority,
  extracted,
  file,
  made,
  memberOf,
  membersOf,
  NOW,
  ORDER,
  REPORT,
  twoInputs,
  unpacked,
  validated,
  verdict,
  writeInto,
} from './container-harness.ts';

const toolTest = withTools(test, 'unzip', 'python3', 'openssl', 'xmlsec1');

const FORMS = [
  ['S', 'Cades'],
  ['S', 'Xades'],
  ['E', 'Cades'],
  ['E', 'Xades'],
] as const;

const MIME = { S: 'application/vnd.etsi.asic-s+zip', E: 'application/vnd.etsi.asic-e+zip' } as const;

for (const [kind, format] of FORMS) {
  test(`ASiC-${kind} with ${format}: a container of each level passes and is reported at that level`, async (t) => {
    for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
      const path = await made(kind, format, { level });
      const report = await validated(path);
      t.is(report.indication, 'TOTAL-PASSED', `${level}: ${JSON.stringify(report)}`);
      t.is(report.format, 'Asic');
      const [signature, ...more] = report.signatures;
      t.deepEqual(more, []);
      t.is(signature?.level, level);
      t.is(signature?.scope.kind, 'container');
      const expected = kind === 'S' ? 'report.txt' : 'report & more.txt, bestellungen/größe.xml';
      t.is(signature?.scope.description, expected);
      t.is(report.results.warnings.length, 0);
    }
  });

  toolTest(
    `ASiC-${kind} with ${format}: other programs read the media type first and stored, and every file unchanged`,
    async (t) => {
      const path = await made(kind, format, { comment: true });
      const listed = await runTool('unzip', ['-Z1', path]);
      t.is(listed.stdout.split('\n')[0], 'mimetype');
      const [first] = (await runTool('unzip', ['-v', path])).stdout
        .split('\n')
        .filter((line) => / mimetype$/.test(line));
      t.regex(first ?? '', /Stored/);
      t.is((await runTool('unzip', ['-t', path])).exit, 0);
      const bytes = readFileSync(path);
      t.is(bytes.readUInt16LE(28), 0, 'no extra field');
      t.is(bytes.toString('latin1', 30, 38 + MIME[kind].length), `mimetype${MIME[kind]}`);
      t.true(bytes.toString('latin1').endsWith(`mimetype=${MIME[kind]}`));
      const root = await extracted(path);
      if (kind === 'S') t.deepEqual(readFileSync(at(root, 'report.txt')), REPORT);
      else t.deepEqual(readFileSync(at(root, 'bestellungen', 'größe.xml')), ORDER);
      const script =
        'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.infolist()[0].filename, z.infolist()[0].compress_type, z.infolist()[0].header_offset)';
      t.is((await runTool('python3', ['-c', script, path])).stdout.trim(), 'None mimetype 0 0');
    },
  );
}

toolTest(
  'openssl accepts the signature of ASiC-S with CAdES over the file, and of ASiC-E over the manifest, and over no other content',
  async (t) => {
    const { pki } = await authority();
    const alone = await extracted(await made('S', 'Cades'));
    const signature = at(alone, 'META-INF', 'signature.p7s');
    t.true((await opensslCms({ signature, content: at(alone, 'report.txt'), ca: pki.rootFile })).ok);
    t.false((await opensslCms({ signature, content: file('other'), ca: pki.rootFile })).ok);
    const several = await extracted(await made('E', 'Cades', { level: 'LTA' }));
    const over = { signature: at(several, 'META-INF', 'signature001.p7s'), ca: pki.rootFile };
    t.true((await opensslCms({ ...over, content: at(several, 'META-INF', 'ASiCManifest001.xml') })).ok);
    t.false((await opensslCms({ ...over, content: at(several, 'META-INF', 'ASiCArchiveManifest.xml') })).ok);
    const stamp = async (data: string) =>
      runTool('openssl', [
        'ts',
        '-verify',
        '-token_in',
        '-in',
        at(several, 'META-INF', 'timestamp001.tst'),
        '-data',
        data,
        '-CAfile',
        pki.rootFile,
        '-untrusted',
        pki.stampingFile,
      ]);
    const good = await stamp(at(several, 'META-INF', 'ASiCArchiveManifest.xml'));
    t.regex(good.stdout + good.stderr, /Verification: OK/);
    t.not((await stamp(at(several, 'META-INF', 'ASiCManifest001.xml'))).exit, 0);
  },
);

toolTest(
  'xmlsec1 accepts the XAdES signatures of both kinds after extraction, and not with a file exchanged',
  async (t) => {
    const { pki } = await authority();
    for (const [kind, name, references] of [
      ['S', 'signatures.xml', 2],
      ['E', 'signatures001.xml', 3],
    ] as const) {
      const root = await extracted(await made(kind, 'Xades', { level: 'LT' }));
      // References are relative to the container, so the file must be at its root for other programs.
      const name2 = join(root, basename(name));
      writeInto(root, basename(name), readFileSync(at(root, 'META-INF', name)));
      const verdictOf = () => xmlsec1({ file: name2, ca: pki.rootFile, cwd: root });
      const good = await verdictOf();
      t.true(good.ok, good.text);
      t.deepEqual([good.referencesOk, good.references], [references, references]);
      writeInto(
        root,
        kind === 'S' ? 'report.txt' : 'report & more.txt',
        Buffer.from('Two hundred barrels.\n'),
      );
      t.false((await verdictOf()).ok);
    }
  },
);

test('the same request gives the same container, with a key that signs the same way each time', async (t) => {
  const { pki } = await authority();
  const inputs = twoInputs();
  for (const format of ['Cades', 'Xades'] as const) {
    const signer = pki.signer('rsa-2048');
    const one = await made('E', format, { inputs, signer });
    const other = await made('E', format, { inputs, signer });
    t.deepEqual(readFileSync(one), readFileSync(other));
    t.notDeepEqual(
      readFileSync(one),
      readFileSync(await made('E', format, { inputs, signer, at: NOW - 60_000 })),
    );
  }
});

for (const [kind, format] of FORMS) {
  test(`ASiC-${kind} with ${format}: a further signature leaves the first unchanged, and both pass`, async (t) => {
    const { pki, services } = await authority();
    const input = await made(kind, format, { level: 'LT' });
    const output = file(undefined, 'asice');
    const signer = pki.signer('rsa-2048');
    await addAsicSignature({ input, output, signer, at: NOW + 1000, level: 'T' }, services);
    const report = await validated(output);
    t.is(report.indication, 'TOTAL-PASSED', JSON.stringify(report.results));
    t.deepEqual(
      report.signatures.map(({ level }) => level),
      kind === 'S' && format === 'Cades' ? ['LT', 'LT'] : ['LT', 'T'],
    );
    const after = new Map(unpacked(output).map(({ name, bytes }) => [name, bytes]));
    for (const { name, bytes } of unpacked(input)) {
      const now = after.get(name);
      if (kind === 'S' && /signature/.test(name)) t.false(now?.equals(bytes), name);
      else t.true(now?.equals(bytes), name);
    }
    if (format === 'Xades') {
      const again = { input: output, output: file(), signer, at: NOW + 1000, level: 'T' } as const;
      const code = await codeOf(() => addAsicSignature(again, services));
      t.is(code, kind === 'S' ? 'request.invalid' : 'none');
    }
  });
}

test('a second archive time-stamp over a container covers the first one', async (t) => {
  const { pki, services } = await authority();
  const input = await made('E', 'Cades', { level: 'LTA' });
  const output = file(undefined, 'asice');
  await addAsicSignature({ input, output, signer: pki.signer('rsa-2048'), at: NOW, level: 'LTA' }, services);
  t.true(membersOf(output).includes('META-INF/ASiCArchiveManifest001.xml'));
  t.deepEqual(
    memberOf(output, 'META-INF/ASiCArchiveManifest001.xml'),
    memberOf(input, 'META-INF/ASiCArchiveManifest.xml'),
  );
  t.regex(
    memberOf(output, 'META-INF/ASiCArchiveManifest.xml').toString(),
    /Rootfile="true" URI="META-INF\/ASiCArchiveManifest001\.xml"/,
  );
  const { indication, signatures } = await validated(output);
  t.is(indication, 'TOTAL-PASSED');
  const archives = signatures.map(
    ({ timestamps }) => timestamps.filter(({ kind }) => kind === 'archive').length,
  );
  t.deepEqual(archives, [2, 1]);
  t.deepEqual(
    signatures.map(({ level }) => level),
    ['LTA', 'LTA'],
  );
});

test('a file that cannot be in a container is refused, and no output is left', async (t) => {
  const { pki, services } = await authority();
  const signer = pki.signer('p-256');
  const path = file(REPORT);
  const code = async (kind: 'S' | 'E', ...names: readonly string[]) => {
    const output = file();
    const inputs = names.map((name) => ({ path, name }));
    const found = await codeOf(() =>
      signAsic({ kind, format: 'Xades', inputs, output, signer, at: NOW }, services),
    );
    t.is(statSync(output, { throwIfNoEntry: false }), undefined);
    return found;
  };
  t.is(await code('E'), 'request.invalid');
  t.is(await code('S', 'a', 'b'), 'request.invalid');
  t.is(await code('S', 'folder/a'), 'request.invalid');
  for (const name of [
    '../a',
    '/a',
    'a\\b',
    'C:a',
    'a//b',
    'META-INF/x',
    'meta-inf/x',
    'mimetype',
    'MimeType',
    'a\u0000',
    '',
  ]) {
    t.is(await code('E', name), 'request.invalid', name);
  }
  t.is(await code('E', 'a.txt', 'A.TXT'), 'request.invalid');
  const missing = {
    kind: 'E',
    format: 'Cades',
    inputs: [{ path: file() }],
    output: file(),
    signer,
    at: NOW,
  } as const;
  t.is(await codeOf(() => signAsic(missing)), 'input.unreadable');
  const level = { ...missing, inputs: [{ path }], level: 'LTA' } as const;
  t.is(await codeOf(() => signAsic(level)), 'request.invalid');
});

test('no signature is added to a container without signature files, with a damaged one or with an unknown format', async (t) => {
  const { pki } = await authority();
  const add = (input: string, format?: 'Cades' | 'Xades', at = NOW) =>
    codeOf(() =>
      addAsicSignature({
        input,
        output: file(),
        signer: pki.signer('p-256'),
        at,
        ...(format === undefined ? {} : { format }),
      }),
    );
  t.is(await add(file('no container at all')), 'asic.malformed');
  t.is(await add(await made('S', 'Cades'), 'Xades'), 'request.invalid');
  t.is(await add(await made('S', 'Xades'), 'Xades'), 'request.invalid', 'the very same signature');
  t.is(await add(await made('S', 'Xades'), 'Xades', NOW + 1000), 'none');
  t.is(await verdict(await made('S', 'Xades')), 'TOTAL-PASSED');
});
