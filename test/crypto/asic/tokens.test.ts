/** Containers with time-stamp tokens instead of signatures, and with evidence records. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { manifestText } from '#crypto/asic/manifest.js';
import { pki as otherPki } from '../../pki/pki.ts';
import { DS, type ForgedReference, forge, SHA256, transform } from '../xades/forging.ts';
import {
  authority,
  file,
  type HandMade,
  handMade,
  made,
  ORDER,
  REPORT,
  remade,
  validated,
} from './container-harness.ts';

const mimeType = (kind: 's' | 'e'): HandMade => ({
  name: 'mimetype',
  bytes: Buffer.from(`application/vnd.etsi.asic-${kind}+zip`),
});
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
const REPORT_MEMBER: HandMade = { name: 'report.txt', bytes: REPORT };
const OTHER = Buffer.from(REPORT.toString('latin1').replace('One', 'Ten'), 'latin1');

async function tokenOver(bytes: Buffer): Promise<Buffer> {
  const { services } = await authority();
  const token = await services.timestamps?.stamp(sha256(bytes), 'sha256');
  if (token === undefined) throw new Error('no time-stamp authority');
  return token;
}

/** Returns the indication, and the scope of the only entry of the report. */
async function outcome(members: readonly HandMade[], extension = 'asics'): Promise<string> {
  const report = await validated(file(handMade(members), extension));
  const [entry] = report.signatures;
  return [report.indication, entry?.isTimestamp, entry?.scope.description].join(' ');
}

test.serial(
  'a container of one file under a time-stamp token is validated like one under a signature',
  async (t) => {
    const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
    t.is(await outcome([mimeType('s'), REPORT_MEMBER, token]), 'TOTAL-PASSED true report.txt');
    const changed = { ...REPORT_MEMBER, bytes: OTHER };
    t.regex(await outcome([mimeType('s'), changed, token]), /^TOTAL-FAILED|^INDETERMINATE/);
    const broken = { ...token, bytes: Buffer.from('no token') };
    t.regex(await outcome([mimeType('s'), REPORT_MEMBER, broken]), /^TOTAL-FAILED|^INDETERMINATE/);
  },
);

test.serial(
  'a container of several files under a token over a manifest is validated, and each file has to be what is listed',
  async (t) => {
    const proof = { name: 'META-INF/timestamp001.tst', mimeType: 'application/vnd.etsi.timestamp-token' };
    const order = { name: 'order.xml', bytes: ORDER };
    const members = [
      { name: 'report.txt', digest: sha256(REPORT) },
      { name: 'order.xml', digest: sha256(ORDER) },
    ];
    const bytes = Buffer.from(manifestText({ proof, digest: 'sha256', members }));
    const manifest = { name: 'META-INF/ASiCManifest001.xml', bytes };
    const token = { name: proof.name, bytes: await tokenOver(bytes) };
    const honest = [mimeType('e'), REPORT_MEMBER, order, manifest, token];
    t.is(await outcome(honest, 'asice'), 'TOTAL-PASSED true report.txt, order.xml');
    const changed = honest.map((one) => (one === REPORT_MEMBER ? { ...one, bytes: OTHER } : one));
    t.regex(await outcome(changed, 'asice'), /^TOTAL-FAILED/);
    const added = [...honest, { name: 'more.txt', bytes: REPORT }];
    t.regex(await outcome(added, 'asice'), /^INDETERMINATE|^TOTAL-FAILED/);
  },
);

test.serial('a container of one file may have several time-stamp tokens, each over the file', async (t) => {
  const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
  const second = { name: 'META-INF/timestamp002.tst', bytes: await tokenOver(REPORT) };
  const honest = [mimeType('s'), REPORT_MEMBER, token, second];
  t.is(await outcome(honest), 'TOTAL-PASSED true report.txt');
  const over = async (bytes: Buffer): Promise<HandMade> => ({ ...second, bytes: await tokenOver(bytes) });
  const more = { name: 'more.txt', bytes: REPORT };
  const forged: readonly (readonly HandMade[])[] = [
    [mimeType('s'), { ...REPORT_MEMBER, bytes: OTHER }, token, second],
    [mimeType('s'), REPORT_MEMBER, token, await over(OTHER)],
    [mimeType('s'), { ...REPORT_MEMBER, bytes: OTHER }, token, await over(OTHER)],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, bytes: Buffer.from('no token') }],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, bytes: Buffer.alloc(0) }],
    [mimeType('s'), REPORT_MEMBER, more, token, second],
    [mimeType('s'), { ...REPORT_MEMBER, name: 'in/report.txt' }, token, second],
    [mimeType('s'), token, second],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, name: 'META-INF/other.bin' }],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, name: 'META-INF/signature.p7s' }],
    [mimeType('s'), REPORT_MEMBER, token, second, { ...second, name: 'META-INF/TimeStamp.tst' }],
  ];
  for (const [index, members] of forged.entries())
    t.notRegex(await outcome(members), /^TOTAL-PASSED/, String(index));
});

test.serial(
  'the comment of a container may name the type of its one file, and no other container',
  async (t) => {
    const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
    const bytes = Buffer.from(
      manifestText({
        proof: { name: 'META-INF/timestamp001.tst', mimeType: 'application/vnd.etsi.timestamp-token' },
        digest: 'sha256',
        members: [{ name: 'report.txt', digest: sha256(REPORT) }],
      }),
    );
    const listed = [
      { name: 'META-INF/ASiCManifest001.xml', bytes },
      { name: 'META-INF/timestamp001.tst', bytes: await tokenOver(bytes) },
    ];
    const commented = async (kind: 's' | 'e', comment: string | Buffer): Promise<string> => {
      const members = [mimeType(kind), REPORT_MEMBER, ...(kind === 's' ? [token] : listed)];
      return (await validated(file(handMade(members, { comment: Buffer.from(comment) }), `asic${kind}`)))
        .indication;
    };
    const s = 'application/vnd.etsi.asic-s+zip';
    const e = 'application/vnd.etsi.asic-e+zip';
    for (const [kind, own, other] of [
      ['s', s, e],
      ['e', e, s],
    ] as const) {
      for (const honest of [
        '',
        `mimetype=${own}`,
        `mimetype=${own}\r\n`,
        'Made by a program',
        'PK',
        'PK 1.2',
      ])
        t.is(await commented(kind, honest), 'TOTAL-PASSED', `${kind} ${honest}`);
      for (const forged of [
        `mimetype=${other}`,
        `MimeType=${other}`,
        ` mimetype=${other}`,
        `\ufeffmimetype=${other}`,
        `mimetype = ${other}`,
        `mimetype: ${other}`,
        `mimetype=${other.toUpperCase()}`,
        `mimetype=${other}; charset=utf-8`,
        `mimetype="${other}"`,
        `mimetype=${own}\nmimetype=${other}`,
        `mimetype=${own}\0${other}`,
        other,
        `Content-Type: ${other}`,
        Buffer.from(`mimetype=${other}`, 'utf16le'),
        ...['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', 'PK\x06\x06', 'PK\x06\x07'].map(
          (record) => `a ${record} b`,
        ),
      ])
        t.is(await commented(kind, forged), 'TOTAL-FAILED', `${kind} ${forged}`);
    }
    t.is(await commented('s', 'mimetype=text/plain'), 'TOTAL-PASSED');
    t.is(await commented('e', 'mimetype=text/plain'), 'TOTAL-FAILED');
  },
);

test.serial('a counter-signer may sign another file of the container', async (t) => {
  const plain = (uri: string, data: Buffer) => ({ uri, data, transforms: '' });
  const signer = (await authority()).pki.signer('p-256');
  const outer = forge({ signer, references: [plain('report.txt', REPORT)] });
  const [, value = ''] = /<ds:SignatureValue Id="sig-value">([^<]*)/.exec(outer) ?? [];
  const over = `<ds:SignatureValue xmlns:ds="${DS}" Id="sig-value">${value}</ds:SignatureValue>`;
  const type = 'http://uri.etsi.org/01903#CountersignedSignature';
  const countered = (
    references: readonly ForgedReference[],
    made = (all: readonly ForgedReference[]): string => forge({ signer, id: 'counter', references: all }),
  ): Buffer => {
    const inner = made([{ uri: '#sig-value', type, data: over }, ...references]);
    const unsigned = `<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CounterSignature>${inner}</xades:CounterSignature></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`;
    const whole = outer.replace('</xades:QualifyingProperties>', `${unsigned}$&`);
    return Buffer.from(
      `<asic:XAdESSignatures xmlns:asic="http://uri.etsi.org/02918/v1.2.1#">${whole}</asic:XAdESSignatures>`,
    );
  };
  const verdictOf = async (
    signatures: Buffer,
    order = ORDER,
    more: readonly HandMade[] = [],
  ): Promise<string> => {
    const members = [
      mimeType('e'),
      REPORT_MEMBER,
      { name: 'order.xml', bytes: order },
      ...more,
      { name: 'META-INF/signatures.xml', bytes: signatures },
    ];
    return (await validated(file(handMade(members), 'asice'))).indication;
  };
  const honest = countered([plain('order.xml', ORDER)]);
  t.is(await verdictOf(honest), 'TOTAL-PASSED');
  t.is(await verdictOf(countered([plain('order.xml', ORDER), plain('report.txt', REPORT)])), 'TOTAL-PASSED');
  const properties = (mark: '' | '/', names: readonly string[]): string =>
    names.map((name) => `<${mark}xades:${name}>`).join('');
  const outside = [
    'CompleteCertificateRefs',
    'QualifyingProperties',
    'UnsignedProperties',
    'UnsignedSignatureProperties',
  ];
  /** The counter-signature in a property that has none. */
  const elsewhere = Buffer.from(
    honest
      .toString()
      .replace('<xades:CounterSignature>', `${properties('', outside)}$&`)
      .replace('</xades:CounterSignature>', `$&${properties('/', outside.toReversed())}`),
  );
  const signedBy = (other: typeof signer): Buffer =>
    countered([plain('order.xml', ORDER)], (references) =>
      forge({ signer: other, id: 'counter', references }),
    );
  const base64 = transform(`${DS}base64`);
  const xpath = transform(
    'http://www.w3.org/TR/1999/REC-xpath-19991116',
    '<ds:XPath xmlns:ds="http://www.w3.org/2000/09/xmldsig#">false()</ds:XPath>',
  );
  const manifest = (id: string): string =>
    `<ds:Manifest xmlns:ds="${DS}" Id="${id}"><ds:Reference URI="order.xml"><ds:DigestMethod Algorithm="${SHA256}"></ds:DigestMethod><ds:DigestValue>${sha256(ORDER).toString('base64')}</ds:DigestValue></ds:Reference></ds:Manifest>`;
  const listing = countered([], (references) =>
    forge({
      signer,
      id: 'counter',
      objects: `<ds:Object>${manifest('list')}</ds:Object>`,
      references: [...references, { uri: '#list', type: `${DS}Manifest`, data: manifest('list') }],
    }),
  );
  for (const [name, found] of [
    ['a counter-signer of nobody', await verdictOf(signedBy(otherPki().signer('p-256')))],
    ['a manifest of the counter-signature', await verdictOf(listing)],
    [
      'a part of a file in Base64',
      await verdictOf(countered([{ ...plain('order.xml', Buffer.alloc(0)), transforms: base64 }])),
    ],
    [
      'nothing of a file',
      await verdictOf(countered([{ ...plain('order.xml', Buffer.alloc(0)), transforms: xpath }])),
    ],
    ['a fragment of a file', await verdictOf(countered([plain('order.xml#item', ORDER)]))],
    ['a file above the container', await verdictOf(countered([plain('../order.xml', ORDER)]))],
    ['a name in another case', await verdictOf(countered([plain('Order.xml', ORDER)]))],
    [
      'the same file twice, once with another digest',
      await verdictOf(countered([plain('order.xml', ORDER), plain('order.xml', REPORT)])),
    ],
    [
      'a counter-signature over something else',
      await verdictOf(
        countered([plain('order.xml', ORDER)], ([, order]) =>
          forge({ signer, id: 'counter', references: order === undefined ? [] : [order] }),
        ),
      ),
    ],
    [
      'another file, the counter-signature twice',
      await verdictOf(
        Buffer.from(
          honest
            .toString()
            .replace(
              /<xades:CounterSignature>.*<\/xades:CounterSignature>/s,
              (one) => one + one.replaceAll('counter', 'again'),
            ),
        ),
        Buffer.from('<order/>'),
      ),
    ],
    ['another file', await verdictOf(honest, Buffer.from('<order/>'))],
    ['another file, the signature elsewhere', await verdictOf(elsewhere, Buffer.from('<order/>'))],
    ['a file of nobody', await verdictOf(honest, ORDER, [{ name: 'more.txt', bytes: REPORT }])],
    ['no reference', await verdictOf(countered([]))],
    ['another digest', await verdictOf(countered([plain('order.xml', REPORT)]))],
    ['another name', await verdictOf(countered([plain('orders.xml', ORDER)]))],
    [
      'another value',
      await verdictOf(Buffer.from(honest.toString().replace('Id="counter-value">', '$&AAAA'))),
    ],
  ] as const)
    t.not(found, 'TOTAL-PASSED', name);
});

test.serial('an evidence record is reported by name and not evaluated', async (t) => {
  const path = await made('E', 'Cades');
  const record = { name: 'META-INF/evidencerecord001.ers', bytes: Buffer.from('record') };
  const report = await validated(remade(path, (members) => [...members, record]));
  t.is(report.indication, 'TOTAL-PASSED');
  const [warning] = report.results.warnings.filter(({ type }) => type === 'evidence-record');
  t.is(warning?.detail, record.name);
  t.regex(warning?.message ?? '', /not evaluated/);
});
