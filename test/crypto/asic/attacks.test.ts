import { readFileSync } from 'node:fs';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import {
  authority,
  facts,
  file,
  type HandMade,
  handMade,
  made,
  memberOf,
  membersOf,
  NOW,
  ORDER,
  REPORT,
  remade,
  replacing,
  unpacked,
  validated,
  verdict,
} from './container-harness.ts';

const FORMS = [
  ['S', 'Cades'],
  ['S', 'Xades'],
  ['E', 'Cades'],
  ['E', 'Xades'],
] as const;

const DATA = { S: 'report.txt', E: 'report & more.txt' } as const;

/** Returns the container finding for a file with these members; `good` when there is none. */
function flaw(bytes: Buffer): string {
  const failed = facts(file(bytes, 'asice')).findings.filter(({ status }) => status === 'failed');
  const [first] = failed.filter(({ type }) => /^container\.(?!uncovered|signatures|data-objects)/.test(type));
  return first?.type ?? 'good';
}

for (const [kind, format] of FORMS) {
  test.serial(
    `ASiC-${kind} with ${format}: a container that another program packed again is valid, one with an exchanged file is not`,
    async (t) => {
      const path = await made(kind, format, { level: 'LTA' });
      t.is(await verdict(remade(path, (members) => members)), 'TOTAL-PASSED');
      const deflated = remade(path, (members) =>
        members.map((member) => ({ ...member, deflate: member.name !== 'mimetype' })),
      );
      t.is(await verdict(deflated), 'TOTAL-PASSED');
      const swapped = remade(
        path,
        replacing(DATA[kind], () => Buffer.from('Two hundred barrels.\n')),
      );
      t.regex(await verdict(swapped), /^TOTAL-FAILED (container\.uncovered )?digest\.(content|member)/);
      if (kind === 'S') return;
      const exchanged = remade(path, (members) =>
        members.map((member) => {
          const other = { [DATA.E]: ORDER, 'bestellungen/größe.xml': REPORT }[member.name];
          return other === undefined ? member : { ...member, bytes: other };
        }),
      );
      t.regex(await verdict(exchanged), /^TOTAL-FAILED (container\.uncovered )?digest\.(content|member)/);
    },
  );

  test.serial(
    `ASiC-${kind} with ${format}: a container with a file added later fails, and the report names the file`,
    async (t) => {
      const path = await made(kind, format);
      const extra = { name: 'annex.txt', bytes: Buffer.from('And my house.\n') };
      const added = await validated(remade(path, (members) => [...members, extra]));
      t.not(added.indication, 'TOTAL-PASSED');
      const error = added.results.errors.find(
        ({ type }) => type === (kind === 'S' ? 'container.data-objects' : 'container.uncovered'),
      );
      t.regex(error?.detail ?? '', /annex\.txt/);
      if (kind === 'E')
        t.true(added.signatures[0]?.results.warnings.some(({ type }) => type === 'scope.partial'));
      for (const name of [
        'META-INF/annex.txt',
        'META-INF/ASiCManifest9.xml',
        'META-INF/Signatures.xml',
        'META-INF/timestamp9.tst',
      ]) {
        const hidden = await verdict(remade(path, (members) => [...members, { ...extra, name }]));
        t.regex(
          hidden,
          /^(INDETERMINATE|TOTAL-FAILED) .*(container\.(stray|manifest|signatures|duplicate-name)|structure\.xml)/,
          name,
        );
      }
      const without = remade(path, (members) => members.filter(({ name }) => name !== DATA[kind]));
      t.regex(await verdict(without), /^(INDETERMINATE|TOTAL-FAILED) /);
      const unsigned = remade(path, (members) => members.filter(({ name }) => !/\.(p7s|xml)$/.test(name)));
      t.regex(await verdict(unsigned), /^(INDETERMINATE|TOTAL-FAILED) /);
    },
  );
}

test.serial(
  'a manifest that is altered, exchanged, missing, doubled or of another form makes the container fail',
  async (t) => {
    const path = await made('E', 'Cades');
    const name = 'META-INF/ASiCManifest001.xml';
    const manifest = memberOf(path, name).toString();
    const other = memberOf(await made('E', 'Cades', { inputs: [{ path: file('x'), name: 'x.txt' }] }), name);
    const altered = (change: (text: string) => string) =>
      verdict(
        remade(
          path,
          replacing(name, (bytes) => Buffer.from(change(bytes.toString()))),
        ),
      );
    t.is(await altered((text) => text), 'TOTAL-PASSED');
    t.regex(
      await altered((text) => text.replace('text/plain', 'text/html')),
      /^TOTAL-FAILED digest\.content/,
    );
    t.regex(await altered((text) => `${text}\n`), /^TOTAL-FAILED digest\.content/);
    const one = /<asic:DataObjectReference.*?<\/asic:DataObjectReference>/.exec(manifest)?.[0] ?? '';
    t.regex(await altered((text) => text.replace(one, '')), /^TOTAL-FAILED .*digest\.content/);
    t.regex(
      await altered((text) => text.replace(one, one + one)),
      /^TOTAL-FAILED .*structure\.manifest|container\.manifest/,
    );
    t.regex(await altered(() => '<!DOCTYPE a><a/>'), /^INDETERMINATE .*structure\.manifest/);
    for (const wrong of ['<a/>', '', manifest.replace('<asic:SigReference', '<asic:Other')]) {
      t.regex(await altered(() => wrong), /^TOTAL-FAILED .*container\.manifest/);
    }
    t.regex(
      await verdict(
        remade(
          path,
          replacing(name, () => other),
        ),
      ),
      /^TOTAL-FAILED .*digest/,
    );
    t.regex(
      await verdict(remade(path, (members) => members.filter((member) => member.name !== name))),
      /^TOTAL-FAILED .*container\.manifest/,
    );
    const doubled = { name: 'META-INF/ASiCManifest002.xml', bytes: Buffer.from(manifest) };
    t.regex(
      await verdict(remade(path, (members) => [...members, doubled])),
      /^TOTAL-FAILED .*container\.manifest/,
    );
  },
);

test.serial(
  'an archive time-stamp proves nothing when its manifest, its token or what it covers is changed',
  async (t) => {
    const path = await made('E', 'Cades', { level: 'LTA' });
    const archives = async (change: Parameters<typeof remade>[1]) => {
      const { signatures, indication } = await validated(remade(path, change));
      const stamps = signatures.flatMap(({ timestamps }) =>
        timestamps.filter(({ kind }) => kind === 'archive'),
      );
      return [indication, ...stamps.map((stamp) => stamp.indication)].join(' ');
    };
    t.is(await archives((members) => members), 'TOTAL-PASSED TOTAL-PASSED');
    const manifest = 'META-INF/ASiCArchiveManifest.xml';
    const text = memberOf(path, manifest).toString();
    const one = /<asic:DataObjectReference[^>]*p7s".*?<\/asic:DataObjectReference>/.exec(text)?.[0] ?? 'none';
    const edited = (change: (text: string) => string) =>
      archives(replacing(manifest, (bytes) => Buffer.from(change(bytes.toString()))));
    t.regex(await edited((same) => same.replace('text/plain', 'text/html')), / TOTAL-FAILED$/);
    t.not(await edited((same) => same.replace(one, '')), 'TOTAL-PASSED TOTAL-PASSED');
    const token = memberOf(await made('E', 'Cades', { level: 'LTA' }), 'META-INF/timestamp001.tst');
    t.regex(await archives(replacing('META-INF/timestamp001.tst', () => token)), / TOTAL-FAILED$/);
    t.regex(await archives(replacing('META-INF/timestamp001.tst', () => Buffer.from('x'))), / TOTAL-FAILED$/);
    t.regex(await archives(replacing('bestellungen/größe.xml', () => REPORT)), /^TOTAL-FAILED TOTAL-FAILED$/);
  },
);

test.serial(
  'a manifest that another signer signed anew leaves no good container beside the first signature',
  async (t) => {
    const path = await made('E', 'Cades');
    const { pki } = await authority();
    const name = 'META-INF/ASiCManifest001.xml';
    const bytes = Buffer.from(memberOf(path, name).toString().replace('signature001', 'signature002'));
    const output = file(undefined, 'p7s');
    signFile({ format: 'Cades', input: file(bytes), output, signer: pki.signer('rsa-2048'), at: NOW });
    const added = { name: 'META-INF/signature002.p7s', bytes: readFileSync(output) };
    const again = remade(path, (members) => [...replacing(name, () => bytes)(members), added]);
    const { indication, signatures, results } = await validated(again);
    t.is(indication, 'TOTAL-FAILED');
    t.deepEqual(
      signatures.map((one) => one.indication),
      ['TOTAL-PASSED'],
    );
    t.true(results.errors.some(({ message }) => message.includes('signature001.p7s')));
  },
);

test.serial('signatures that were moved between containers or renamed fail', async (t) => {
  const mine = await made('E', 'Xades');
  const other = await made('E', 'Xades', { inputs: [{ path: file('x'), name: 'report & more.txt' }] });
  const name = 'META-INF/signatures001.xml';
  t.regex(
    await verdict(
      remade(
        mine,
        replacing(name, () => memberOf(other, name)),
      ),
    ),
    /^TOTAL-FAILED .*digest/,
  );
  const renamed = (from: string, to: string, path = mine) =>
    verdict(remade(path, (all) => all.map((one) => (one.name === from ? { ...one, name: to } : one))));
  t.is(await renamed(name, 'META-INF/mySignatures_signatures.xml'), 'TOTAL-PASSED');
  t.is(await renamed(name, 'META-INF/signatures001.XML'), 'TOTAL-PASSED');
  t.regex(await renamed(name, 'meta-inf/signatures001.xml'), /^TOTAL-FAILED /);
  t.regex(
    await renamed('report & more.txt', 'Report & More.txt'),
    /^INDETERMINATE reference\.data|INDETERMINATE/,
  );
  const kind = (path: string, mimeType: string) =>
    verdict(
      remade(
        path,
        replacing('mimetype', () => Buffer.from(mimeType)),
      ),
    );
  t.regex(await kind(mine, 'application/vnd.etsi.asic-s+zip'), /^TOTAL-FAILED container\.data-objects/);
  t.regex(
    await kind(await made('S', 'Cades'), 'application/vnd.etsi.asic-e+zip'),
    /^TOTAL-FAILED .*container\.manifest/,
  );
  const ofOneFile = [await made('S', 'Cades'), await made('S', 'Xades')];
  for (const path of ofOneFile) {
    for (const mimeType of ['application/vnd.etsi.asic-s+zip\r\n', 'application/zip']) {
      const renamed = remade(
        path,
        replacing('mimetype', () => Buffer.from(mimeType)),
      );
      t.is(await verdict(renamed), 'TOTAL-PASSED', mimeType);
      const { results } = await validated(renamed);
      t.true(results.warnings.some(({ type }) => type === 'container.mimetype'));
    }
  }
});

test.serial('a reference out of the container, or to a fragment of a file, is not resolved', async (t) => {
  const path = await made('E', 'Xades', { inputs: [{ path: file(REPORT), name: 'etc/hosts' }] });
  for (const uri of [
    '/etc/hosts',
    '../etc/hosts',
    'file:///etc/hosts',
    'http://127.0.0.1/etc/hosts',
    'etc/hosts?x',
    'etc/hosts#x',
    'ETC/hosts',
    'etc%5Chosts',
  ]) {
    const change = (bytes: Buffer) => Buffer.from(bytes.toString().replaceAll('"etc/hosts"', `"${uri}"`));
    const found = facts(remade(path, replacing('META-INF/signatures001.xml', change)));
    const [signature] = found.signatures;
    t.true(
      signature?.findings.some(({ type, status }) => type === 'reference.outside' && status === 'failed'),
      uri,
    );
  }
  t.is(await verdict(path), 'TOTAL-PASSED');
});

/** A ZIP64 extra field. */
function zip64(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

const MIME = { name: 'mimetype', bytes: Buffer.from('application/vnd.etsi.asic-e+zip') };
const TEXT = { name: 'report.txt', bytes: REPORT };

test.serial(
  'a media type that is not the first member, stored and alone is a warning, and two of them a failure',
  async (t) => {
    const path = await made('E', 'Xades');
    t.is(await verdict(remade(path, (members) => members)), 'TOTAL-PASSED');
    const wrong: Record<string, (all: HandMade[]) => readonly HandMade[]> = {
      last: ([first, ...rest]) => [...rest, ...(first === undefined ? [] : [first])],
      deflated: (all) => all.map((one) => (one.name === 'mimetype' ? { ...one, deflate: true } : one)),
      'with an extra field': (all) =>
        all.map((one) =>
          one.name === 'mimetype' ? { ...one, localExtra: Buffer.from([0x99, 0x99, 0, 0]) } : one,
        ),
    };
    for (const [how, change] of Object.entries(wrong)) {
      const report = await validated(remade(path, change));
      t.is(report.indication, 'TOTAL-PASSED', how);
      t.deepEqual(
        report.results.warnings.map(({ type }) => type),
        ['container.mimetype'],
        how,
      );
    }
    const without = await validated(remade(path, ([, ...rest]) => rest));
    t.is(without.indication, 'TOTAL-PASSED');
    t.deepEqual(
      without.results.warnings.map(({ type }) => type),
      ['container.mimetype'],
    );
    const named = (kind: string) =>
      verdict(
        remade(path, ([, ...rest]) => rest, {
          comment: Buffer.from(`mimetype=application/vnd.etsi.asic-${kind}+zip`),
        }),
      );
    t.is(await named('e'), 'TOTAL-PASSED');
    t.is(await named('s'), 'TOTAL-FAILED container.comment');
    const twice = remade(path, (members) => [
      ...members,
      ...members.filter(({ name }) => name === 'mimetype'),
    ]);
    t.is(await verdict(twice), 'TOTAL-FAILED container.duplicate-name');
    const cased = remade(path, (members) => [...members, { ...MIME, name: 'MimeType' }]);
    t.is(await verdict(cased), 'TOTAL-FAILED container.duplicate-name');
    const lone = remade(path, ([, ...rest]) => [{ ...MIME, name: 'MimeType' }, ...rest]);
    t.regex(await verdict(lone), /^TOTAL-FAILED container\.lookalike/);
    const comment = { comment: Buffer.from('mimetype=application/vnd.etsi.asic-s+zip') };
    t.is(await verdict(remade(path, (members) => members, comment)), 'TOTAL-FAILED container.comment');
    const ended = { comment: Buffer.from('mimetype=application/vnd.etsi.asic-e+zip\r\n') };
    t.is(await verdict(remade(path, (members) => members, ended)), 'TOTAL-PASSED');
  },
);

test.serial(
  'hostile ZIP files are refused with the reason: ambiguous directories, overlaps, oversized fields',
  (t) => {
    t.is(flaw(handMade([MIME, TEXT])), 'good');
    t.is(flaw(handMade([MIME, { ...TEXT, deflate: true }])), 'good');
    const same = zip64([REPORT.length, REPORT.length]);
    t.is(flaw(handMade([MIME, { ...TEXT, extra: same, localExtra: same }])), 'good');
    const other = { name: 'other.txt', bytes: Buffer.from('Other.') };
    const bad: readonly (readonly [string, string, Buffer])[] = [
      ['bytes before', 'hidden-bytes', handMade([MIME, TEXT], { before: Buffer.from('%PDF-1.7\n') })],
      [
        'bytes before, offsets from the first member',
        'hidden-bytes',
        Buffer.concat([Buffer.from('MZ'), handMade([MIME, TEXT])]),
      ],
      ['bytes between', 'hidden-bytes', handMade([MIME, { ...TEXT, after: Buffer.from('hidden') }])],
      ['bytes before the directory', 'hidden-bytes', handMade([MIME, TEXT], { between: Buffer.alloc(16) })],
      ['bytes after', 'malformed', Buffer.concat([handMade([MIME, TEXT]), Buffer.from('after')])],
      [
        'a member that is in no directory',
        'hidden-bytes',
        handMade([MIME, { ...other, hidden: true }, TEXT]),
      ],
      [
        'another container in the comment',
        'hidden-bytes',
        handMade([MIME, TEXT], { comment: handMade([other]) }),
      ],
      [
        'a container after the container',
        'hidden-bytes',
        Buffer.concat([handMade([MIME, TEXT]), handMade([MIME, other])]),
      ],
      ['the same bytes twice', 'overlap', handMade([MIME, { ...other, offset: 0, localName: 'mimetype' }])],
      ['a name twice', 'duplicate-name', handMade([MIME, TEXT, { ...TEXT, bytes: other.bytes }])],
      ['a name in other case', 'duplicate-name', handMade([MIME, TEXT, { ...other, name: 'REPORT.txt' }])],
      [
        'a name composed otherwise',
        'duplicate-name',
        handMade([MIME, { ...TEXT, name: 'é' }, { ...other, name: 'e\u0301' }]),
      ],
      ['another name of its own', 'header-mismatch', handMade([MIME, { ...TEXT, localName: 'report.exe' }])],
      [
        'another name in an extra field',
        'header-mismatch',
        handMade([MIME, { ...TEXT, extra: unicodePath('a.txt') }]),
      ],
      ['encrypted', 'encrypted', handMade([MIME, { ...TEXT, flags: 1 }])],
      ['encrypted by its own word alone', 'header-mismatch', handMade([MIME, { ...TEXT, localFlags: 1 }])],
      ['an unknown method', 'unsupported', handMade([MIME, { ...TEXT, method: 14 }])],
      [
        'a symbolic link',
        'special-file',
        handMade([MIME, { ...TEXT, externalAttributes: 0o120777 * 0x10000, madeBy: 0x314 }]),
      ],
      [
        'a symbolic link of another system',
        'special-file',
        handMade([MIME, { ...TEXT, externalAttributes: 0o120777 * 0x10000 }]),
      ],
      ['a folder with bytes', 'special-file', handMade([MIME, { ...TEXT, name: 'folder/' }])],
      [
        'another length in a ZIP64 field that nothing asks for',
        'header-mismatch',
        handMade([MIME, { ...TEXT, extra: zip64([5, 5]) }]),
      ],
      [
        'another place in a ZIP64 field',
        'header-mismatch',
        handMade([MIME, { ...TEXT, extra: zip64([REPORT.length, REPORT.length, 0]) }]),
      ],
      [
        'another length in its own ZIP64 field',
        'header-mismatch',
        handMade([MIME, { ...TEXT, localExtra: zip64([5, 5]) }]),
      ],
      ['another checksum', 'damaged', handMade([MIME, { ...TEXT, crc32: 1 }])],
      ['another length', 'header-mismatch', handMade([MIME, { ...TEXT, size: 5 }])],
      ['another length, deflated', 'damaged', handMade([MIME, { ...TEXT, deflate: true, size: 5 }])],
      ['a longer length, deflated', 'damaged', handMade([MIME, { ...TEXT, deflate: true, size: 500 }])],
      ['no deflated bytes', 'damaged', handMade([MIME, { ...TEXT, method: 8, size: 45 }])],
      ['nothing at all', 'malformed', Buffer.alloc(0)],
      ['something else', 'malformed', Buffer.from('<a/>')],
      ['cut short', 'malformed', handMade([MIME, TEXT]).subarray(0, -1)],
    ];
    for (const [what, expected, bytes] of bad) t.is(flaw(bytes), `container.${expected}`, what);
    for (const name of [
      '../a',
      'a/../../b',
      '/a',
      'C:\\a',
      'a\\b',
      'a/./b',
      'a//b',
      'a\u0000.txt',
      'a\u202etxt.exe',
    ]) {
      t.is(flaw(handMade([MIME, { ...TEXT, name }])), 'container.unsafe-name', name);
    }
  },
);

const UTF8 = 1 << 11;

/** A name in UTF-8 is read whatever its member says of it; one in a code page is left open, unless it claims to be UTF-8. */
const ENCODED_NAMES = [
  ['UTF-8 that says so', 'h\xc3\xa1t.txt', UTF8, 'good'],
  ['UTF-8 that does not say so', 'h\xc3\xa1t.txt', 0, 'good'],
  ['a code page', 'h\xa0t.txt', 0, 'INDETERMINATE container.unsupported'],
  ['a code page that says it is UTF-8', 'h\xa0t.txt', UTF8, 'TOTAL-FAILED container.unsafe-name'],
  ['a code page, and another folder', '../h\xa0t.txt', 0, 'INDETERMINATE container.unsupported'],
] as const;

for (const [what, bytes, flags, expected] of ENCODED_NAMES)
  test.serial(`a name of a member in ${what}: ${expected}`, async (t) => {
    const made = handMade([MIME, { ...TEXT, name: '~'.repeat(bytes.length), flags, localFlags: flags }]);
    const named = made.toString('latin1').replaceAll('~'.repeat(bytes.length), bytes);
    const found = await verdict(file(Buffer.from(named, 'latin1'), 'asice'));
    if (expected === 'good') t.false(/unsupported|unsafe-name/.test(found), found);
    else t.is(found, expected);
  });

function unicodePath(name: string): Buffer {
  const field = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from(name)]);
  return Buffer.concat([Buffer.from([0x75, 0x70, field.length, 0]), field]);
}

test.serial('a member that inflates to many times its length is refused before it is inflated', (t) => {
  const zeros = { name: 'zeros', bytes: Buffer.alloc(32 << 20), deflate: true };
  const bytes = handMade([MIME, zeros]);
  t.true(bytes.length < 100_000);
  t.is(flaw(bytes), 'container.too-large');
  t.is(flaw(handMade([MIME, { ...zeros, bytes: Buffer.alloc(1 << 20) }])), 'good');
  // A member with a false length is not inflated beyond that length.
  t.is(flaw(handMade([MIME, { ...zeros, size: 1000 }])), 'container.damaged');
});

test.serial('an impossible length in any field of any record is reported', async (t) => {
  const path = await made('S', 'Cades');
  const whole = readFileSync(path);
  const records = ['PK\x01\x02', 'PK\x05\x06', 'PK\x03\x04'].map((mark) =>
    whole.lastIndexOf(mark, undefined, 'latin1'),
  );
  let refused = 0;
  let cases = 0;
  for (const start of records) {
    for (let at = start; at < Math.min(start + 46, whole.length); at++) {
      for (const value of [0x00, 0x01, 0x7f, 0xff]) {
        const changed = Buffer.from(whole);
        if (changed[at] === value) continue;
        changed[at] = value;
        cases++;
        if (facts(file(changed)).findings.some(({ status }) => status === 'failed')) refused++;
      }
    }
  }
  // Changes of times and versions have no effect.
  t.true(refused > cases * 0.6, `${refused} of ${cases}`);
});

test.serial('a container is recognized by its content, not by its name', async (t) => {
  const path = await made('E', 'Cades');
  for (const format of ['Asic', 'Cades', 'Xades'] as const) {
    const report = await validated(path, { format });
    t.is(report.format, 'Asic');
    t.is(report.indication, 'TOTAL-PASSED');
  }
  const zip = await validated(file(handMade([TEXT]), 'zip'), { format: 'Cades' });
  t.is(zip.format, 'Asic');
  t.not(zip.indication, 'TOTAL-PASSED');
  t.is((await validated(file('Hello.'), { format: 'Cades' })).format, 'Cades');
});

test.serial(
  'a change of any byte of a manifest, or of the content of an XML signature, is detected',
  async (t) => {
    await authority();
    for (const [kind, format, name] of [
      ['E', 'Cades', 'META-INF/ASiCManifest001.xml'],
      ['E', 'Xades', 'META-INF/signatures001.xml'],
    ] as const) {
      const path = await made(kind, format);
      const members = unpacked(path);
      const { length } = memberOf(path, name);
      // Content around the list of signatures belongs to none.
      const from = Math.max(memberOf(path, name).indexOf('<ds:SignedInfo'), 7);
      const end = format === 'Xades' ? memberOf(path, name).indexOf('</ds:SignedInfo>') : length;
      for (let place = from; place < end; place += Math.ceil(length / 60)) {
        const changed = members.map((one) => {
          if (one.name !== name) return one;
          const bytes = Buffer.from(one.bytes);
          bytes[place] = (bytes[place] ?? 0) ^ 1;
          return { ...one, bytes };
        });
        const result = await verdict(file(handMade(changed)));
        t.not(result, 'TOTAL-PASSED', `${name} at ${place}: ${members.length}`);
      }
    }
    t.true(membersOf(await made('E', 'Xades')).includes('META-INF/manifest.xml'));
  },
);
