/** Full validation of XML signatures by this product and by other programs. */
import { createHash, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SignedXml } from 'xml-crypto';
import type { XadesFormat } from '#crypto/core/types.js';
import type { SignatureRecord, ValidationReport } from '#crypto/core/validation-report.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { inspectXadesDocument } from '#crypto/xades/validate.js';
import { keyPemOf, pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/tool.ts';
import {
  complaints,
  DS,
  ENVELOPED,
  EXC,
  enveloped,
  forge,
  goodProperties,
  reportOn,
  SHA256,
  transform,
} from './forging.ts';
import { newFile, signDocument } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1');

const folder = mkdtempSync(join(tmpdir(), 'sealwright-xvalidate-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const DOCUMENT = '<?p q?><r xmlns="urn:r" xmlns:u="urn:unused"><pay Id="x" to="A">100</pay><last/></r>';

function validate(path: string, content?: string): Promise<ValidationReport> {
  return validateFile({
    format: 'Xades',
    path,
    ...(content !== undefined && { content }),
    at: Date.now(),
    trust: { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' },
  });
}

function only(t: ExecutionContext, report: ValidationReport): SignatureRecord {
  t.is(report.signatures.length, 1);
  return report.signatures[0] as SignatureRecord;
}

const FORMS: readonly {
  readonly name: string;
  readonly xades: XadesFormat;
  readonly document?: string;
  readonly extension?: string;
  readonly scope: readonly [kind: string, description: RegExp];
  /** Text replacement that changes the file. */
  readonly change: readonly [from: string, to: string];
}[] = [
  { name: 'enveloped', xades: {}, scope: ['document', /^the whole document$/], change: ['>100<', '>101<'] },
  {
    name: 'enveloped for several signers',
    xades: { coSignable: true },
    scope: ['document', /without its signatures/],
    change: ['>100<', '>101<'],
  },
  {
    name: 'one element',
    xades: { packaging: 'element', elementId: 'x' },
    scope: ['element', /^the element \/r\/pay \(#x\)$/],
    change: ['>100<', '>101<'],
  },
  {
    name: 'enveloping XML',
    xades: { packaging: 'enveloping' },
    scope: ['content', /inside the signature/],
    change: ['>100<', '>101<'],
  },
  {
    name: 'enveloping Base64',
    xades: { packaging: 'enveloping' },
    document: 'plain text',
    extension: 'txt',
    scope: ['content', /inside the signature/],
    change: ['cGxhaW4', 'cGxhaX4'],
  },
];

for (const { name, xades, document = DOCUMENT, extension, scope, change } of FORMS) {
  test(`a signature of the form "${name}" passes as level B and reports its coverage, and a changed byte fails`, async (t) => {
    for (const kind of ['rsa-2048', 'p-521', 'ed25519'] as const) {
      const signer = pki().signer(kind);
      const signed = signDocument(document, { signer, xades, ...(extension !== undefined && { extension }) });
      const record = only(t, await validate(signed.path));
      t.is(record.indication, 'TOTAL-PASSED', JSON.stringify(record, undefined, 1));
      t.is(record.level, 'B');
      t.is(record.scope.kind, scope[0] as typeof record.scope.kind);
      t.regex(record.scope.description, scope[1]);
      t.is(record.certificate?.subjectName, `Signer ${kind}`);
      const text = signed.bytes.toString();
      const changed = text.replace(change[0], change[1]);
      t.not(changed, text);
      const bad = only(t, await validate(newFile(changed)));
      t.is(bad.indication, 'TOTAL-FAILED');
      t.is(bad.subIndication, 'HASH_FAILURE');
    }
  });
}

test('RSA-PSS and every digest are validated, and a value with a flipped bit fails', async (t) => {
  for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
    const signed = signDocument(DOCUMENT, { signer: pki().signer('rsa-2048'), padding: 'pss', digest });
    t.is((await validate(signed.path)).indication, 'TOTAL-PASSED', digest);
    const text = signed.bytes
      .toString()
      .replace(/(?<=<ds:SignatureValue [^>]*>)./, (one) => (one === 'A' ? 'B' : 'A'));
    t.is(only(t, await validate(newFile(text))).subIndication, 'SIG_CRYPTO_FAILURE');
  }
});

/** P-521: every fourth value has a zero before both integers. */
const ROW = 66;
const OTHER = 'warning signature.encoding';
const BROKEN = 'failed signature.value SIG_CRYPTO_FAILURE';
const halves = (value: Buffer, change: (half: Buffer, index: number) => Buffer): Buffer =>
  Buffer.concat([value.subarray(0, ROW), value.subarray(ROW)].map(change));
/** Ways to write r and s, and what validation says of them. */
const WRITTEN_VALUES: { readonly [form: string]: readonly [write: (value: Buffer) => Buffer, said: string] } =
  {
    'of the length of the curve': [(value) => value, ''],
    'each with a zero more': [(value) => halves(value, (half) => Buffer.concat([Buffer.of(0), half])), OTHER],
    'each with many zeros more': [
      (value) => halves(value, (half) => Buffer.concat([Buffer.alloc(100), half])),
      OTHER,
    ],
    'each without its zero': [(value) => halves(value, (half) => half.subarray(1)), OTHER],
    'one without its zero': [
      (value) => halves(value, (half, index) => (index === 0 ? half : half.subarray(1))),
      BROKEN,
    ],
    'each without its zero, one changed': [
      (value) => halves(value, (half, index) => Buffer.from(half.subarray(1)).fill(1, 0, index)),
      BROKEN,
    ],
    'exchanged, each with a zero more': [
      (value) =>
        halves(
          halves(value, (half) => half),
          (_, index) => halfOf(value, 1 - index),
        ),
      BROKEN,
    ],
    'all zeros': [(value) => Buffer.alloc(value.length), BROKEN],
    'all zeros, longer': [(value) => Buffer.alloc(value.length + 2), BROKEN],
    'of no length': [() => Buffer.alloc(0), 'failed structure.signature FORMAT_FAILURE'],
  };
const halfOf = (value: Buffer, index: number): Buffer =>
  Buffer.concat([Buffer.of(0), value.subarray(index * ROW, (index + 1) * ROW)]);

for (const [form, [write, said]] of Object.entries(WRITTEN_VALUES))
  test(`an ECDSA value of two integers ${form}: ${said || 'passed'}`, (t) => {
    const signer = pki().signer('p-521');
    const value = (data: Buffer): Buffer => {
      for (;;) {
        const made = sign('sha512', data, { key: signer.key.keyObject, dsaEncoding: 'ieee-p1363' });
        if (made[0] === 0 && made[ROW] === 0) return made;
      }
    };
    const method = 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512';
    const file = enveloped('<x></x>', { signer, method, sign: (data) => write(value(data)) });
    t.is(complaints(file).join(), said);
  });

test('an ECDSA value in the form of certificates is verified, with a warning', (t) => {
  const key = pki().signer('p-256').key.keyObject;
  const made = (change: (value: Buffer) => Buffer): string =>
    enveloped('<x></x>', { sign: (data) => change(sign('sha256', data, key)) });
  const file = made((value) => value);
  t.is(reportOn(file).indication, 'TOTAL-PASSED');
  t.deepEqual(complaints(file), ['warning signature.encoding']);
  t.deepEqual(complaints(enveloped('<x></x>')), []);
  const other = made((value) =>
    Buffer.concat([value.subarray(0, -1), Buffer.from([(value.at(-1) ?? 0) ^ 1])]),
  );
  t.deepEqual(complaints(other), ['failed signature.value SIG_CRYPTO_FAILURE']);
  const longer = made((value) => Buffer.concat([value, Buffer.from([0])]));
  t.deepEqual(complaints(longer), ['failed signature.value SIG_CRYPTO_FAILURE']);
});

test('a detached signature passes with its content, fails with another, and stays open without any', async (t) => {
  const signed = signDocument('some text', { extension: 'txt', xades: { packaging: 'detached' } });
  const record = only(t, await validate(signed.path, signed.inputPath));
  t.is(record.indication, 'TOTAL-PASSED', JSON.stringify(record, undefined, 1));
  t.regex(record.scope.description, /\.txt$/);
  t.is(only(t, await validate(signed.path, newFile('some test'))).subIndication, 'HASH_FAILURE');
  const without = only(t, await validate(signed.path));
  t.is(without.indication, 'INDETERMINATE');
  t.is(without.subIndication, 'SIGNED_DATA_NOT_FOUND');
});

test('a finder resolves each of several detached files, and a single file matches its own name only', (t) => {
  const file = forge({
    references: [
      { uri: 'a%20b.txt', data: 'A', transforms: '' },
      { uri: 'c.txt', data: 'C', transforms: '' },
    ],
  });
  const of = (text: string, path?: string) => ({
    size: text.length,
    chunks: () => [Buffer.from(text)],
    ...(path !== undefined && { path }),
  });
  const contents = new Map([
    ['a%20b.txt', of('A')],
    ['c.txt', of('C')],
  ]);
  t.is(reportOn(file, { content: (uri) => contents.get(uri ?? '') }).indication, 'TOTAL-PASSED');
  t.deepEqual(complaints(file, { content: of('A', '/somewhere/a b.txt') }), [
    'failed reference.outside SIGNED_DATA_NOT_FOUND',
  ]);
  t.deepEqual(complaints(file, { content: of('A', '/somewhere/c.txt') }), [
    'failed reference.outside SIGNED_DATA_NOT_FOUND',
    'failed digest.content HASH_FAILURE',
  ]);
});

test('three people sign one document, each signature is validated separately, and one invalid one fails the file', async (t) => {
  let bytes: Buffer = Buffer.from(DOCUMENT);
  for (const kind of ['p-256', 'rsa-2048', 'p-384'] as const)
    bytes = signDocument(bytes, { signer: pki().signer(kind), xades: { coSignable: true } }).bytes;
  const report = await validate(newFile(bytes));
  t.is(report.indication, 'TOTAL-PASSED');
  t.deepEqual(
    report.signatures.map(({ certificate }) => certificate?.subjectName),
    ['Signer p-256', 'Signer rsa-2048', 'Signer p-384'],
  );
  const values = [...bytes.toString().matchAll(/<ds:SignatureValue [^>]*>([^<]*)</g)].map(
    ([, value]) => value ?? '',
  );
  const swapped = bytes.toString().replace(values[0] ?? '', values[2] ?? '');
  const bad = await validate(newFile(swapped));
  t.is(bad.indication, 'TOTAL-FAILED');
  t.deepEqual(
    bad.signatures.map(({ indication }) => indication),
    ['TOTAL-FAILED', 'TOTAL-PASSED', 'TOTAL-PASSED'],
  );
});

test('signed documents in UTF-16 and Latin-1 are validated in their own encoding', async (t) => {
  const text = '<r>Gr\u00f6\u00dfe <pay>1</pay></r>';
  for (const encoding of ['utf16le', 'latin1'] as const) {
    const name = encoding === 'latin1' ? 'ISO-8859-1' : 'UTF-16';
    const mark = encoding === 'latin1' ? '' : '\uFEFF';
    const { bytes } = signDocument(
      Buffer.from(`${mark}<?xml version="1.0" encoding="${name}"?>${text}`, encoding),
    );
    t.is((await validate(newFile(bytes))).indication, 'TOTAL-PASSED');
    const changed = bytes.toString(encoding).replace('>1<', '>2<');
    t.is(only(t, await validate(newFile(Buffer.from(changed, encoding)))).subIndication, 'HASH_FAILURE');
  }
});

// ——— signatures of other programs

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const C14N11 = 'http://www.w3.org/2006/12/xml-c14n11';
const RSA = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const METHODS = [C14N, `${C14N}#WithComments`, C14N11, `${C14N11}#WithComments`, EXC, `${EXC}WithComments`];

function template(canonicalization: string, references: string, objects = ''): string {
  return (
    `<Signature xmlns="${DS}"><SignedInfo><CanonicalizationMethod Algorithm="${canonicalization}"/>\n` +
    `<!-- a comment --><SignatureMethod Algorithm="${RSA}"/>${references}</SignedInfo><SignatureValue/>\n` +
    `<KeyInfo><X509Data><X509Certificate/></X509Data></KeyInfo>${objects}</Signature>`
  );
}
const ref = (uri: string, transforms: readonly string[], more = ''): string =>
  `<Reference URI="${uri}"${more}>${transforms.length === 0 ? '' : `<Transforms>${transforms.map((one) => `<Transform Algorithm="${one}"/>`).join('')}</Transforms>`}` +
  `<DigestMethod Algorithm="${SHA256}"/><DigestValue/></Reference>`;

let made = 0;
/** Signs a template by xmlsec1 with the RSA signer. */
async function byXmlsec1(t: ExecutionContext, text: string, ids: readonly string[] = []): Promise<string> {
  const signer = pki().signer('rsa-2048');
  const work = join(folder, `${++made}`);
  mkdirSync(work);
  const key = join(work, 'key.pem');
  const certificate = join(work, 'cert.pem');
  const issuing = join(work, 'issuing.pem');
  writeFileSync(key, keyPemOf(signer.key.keyObject));
  writeFileSync(certificate, certificatePem(signer.certificate));
  writeFileSync(issuing, certificatePem(signer.chain[0] ?? Buffer.alloc(0)));
  writeFileSync(join(work, 'content.bin'), 'content beside');
  const input = join(work, 'template.xml');
  const output = join(work, 'signed.xml');
  writeFileSync(input, text);
  const { exit, stderr } = await runTool(
    'xmlsec1',
    [
      '--sign',
      '--privkey-pem',
      `${key},${certificate},${issuing}`,
      ...ids.flatMap((id) => ['--id-attr:Id', id]),
      '--output',
      output,
      input,
    ],
    { cwd: work },
  );
  t.is(exit, 0, stderr);
  return output;
}

const BODY = '<!-- x --><b xmlns:z="urn:z" xml:lang="de"> t <!-- y --><z:c/></b>';

toolTest(
  'plain signatures by xmlsec1 pass with every canonicalization, without a baseline level',
  async (t) => {
    for (const method of METHODS) {
      const text = `<a xmlns="urn:a" xmlns:n="urn:n" xml:space="preserve">${BODY}${template(method, ref('', [ENVELOPED, method]))}</a>`;
      const path = await byXmlsec1(t, text);
      const record = only(t, await validate(path));
      t.is(record.indication, 'TOTAL-PASSED', `${method} ${JSON.stringify(record, undefined, 1)}`);
      t.is(record.level, undefined);
      t.deepEqual(
        record.results.warnings
          .map(({ type }) => type)
          .filter((type) => !type.startsWith('scope.'))
          .sort(),
        ['attributes.xades', 'certificate.binding'],
      );
      t.is(record.scope.description, 'the whole document');
      const changed = readFileSync(path, 'utf8').replace(' t ', ' u ');
      t.is(only(t, await validate(newFile(changed))).subIndication, 'HASH_FAILURE', method);
      const info = readFileSync(path, 'utf8').replace('<SignatureMethod', '\n<SignatureMethod');
      t.is(only(t, await validate(newFile(info))).subIndication, 'SIG_CRYPTO_FAILURE', method);
    }
  },
);

toolTest('elements, pointers, objects and manifests signed by xmlsec1 pass in their context', async (t) => {
  const cases: readonly [name: string, text: string, scope: RegExp][] = [
    ...METHODS.map(
      (method) =>
        [
          `element by ${method}`,
          `<a xmlns="urn:a" xmlns:n="urn:n" xml:lang="fr" xml:base="http://o/p/"><e Id="e" xml:base="q">${BODY}</e>${template(EXC, ref('#e', [method]))}</a>`,
          /^the element \/a\/e \(#e\)$/,
        ] as [string, string, RegExp],
    ),
    [
      'element without transforms',
      `<a xmlns="urn:a" xml:lang="fr"><e Id="e">${BODY}</e>${template(C14N, ref('#e', []))}</a>`,
      /^the element/,
    ],
    [
      'pointer with comments',
      `<a xmlns="urn:a"><e Id="e">${BODY}</e>${template(C14N, ref("#xpointer(id('e'))", [`${C14N}#WithComments`]))}</a>`,
      /^the element/,
    ],
    [
      'document by pointer',
      `<a xmlns="urn:a">${BODY}${template(C14N, ref('#xpointer(/)', [ENVELOPED, `${C14N}#WithComments`]))}</a>`,
      /^the whole document$/,
    ],
    [
      'object',
      template(C14N, ref('#o', []), `<Object Id="o"><x xmlns="urn:x">${BODY}</x></Object>`),
      /inside the signature/,
    ],
    [
      'Base64 object',
      template(C14N, ref('#o', [`${DS}base64`]), `<Object Id="o">aGVsbG8g\n d29ybGQ=</Object>`),
      /inside the signature/,
    ],
    [
      'manifest',
      `<a><e Id="e">${BODY}</e>${template(
        C14N,
        ref('#m', [], ` Type="${DS}Manifest"`),
        `<Object><Manifest Id="m">${ref('#e', [EXC])}</Manifest></Object>`,
      )}</a>`,
      /manifest/,
    ],
    [
      'XPath that leaves signatures out',
      `<a>${BODY}${template(
        C14N,
        ref('', []).replace(
          '<DigestMethod',
          `<Transforms><Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><XPath xmlns:d="${DS}">not(ancestor-or-self::d:Signature)</XPath></Transform></Transforms><DigestMethod`,
        ),
      )}</a>`,
      /without its signatures/,
    ],
  ];
  for (const [name, text, scope] of cases) {
    const path = await byXmlsec1(t, text, ['urn:a:e', 'e', `${DS}:Object`, `${DS}:Manifest`]);
    const record = only(t, await validate(path));
    t.is(record.indication, 'TOTAL-PASSED', `${name}\n${JSON.stringify(record, undefined, 1)}`);
    t.regex(record.scope.description, scope, name);
    const changed = readFileSync(path, 'utf8').replace(/ t |aGVsbG8g/, (found) =>
      found === ' t ' ? ' u ' : 'aGVsbG9g',
    );
    t.is(only(t, await validate(newFile(changed))).subIndication, 'HASH_FAILURE', name);
  }
});

toolTest('a detached signature by xmlsec1 passes with the supplied content', async (t) => {
  const path = await byXmlsec1(t, template(C14N, ref('content.bin', [])));
  const content = join(path, '..', 'content.bin');
  t.is((await validate(path, content)).indication, 'TOTAL-PASSED');
  t.is((await validate(path)).indication, 'INDETERMINATE');
  t.is((await validate(path, newFile('content besides'))).indication, 'TOTAL-FAILED');
});

test('signatures by another library for Node pass, and fail after a change', (t) => {
  const signer = pki().signer('rsa-2048');
  for (const method of [C14N, EXC]) {
    const maker = new SignedXml({
      privateKey: keyPemOf(signer.key.keyObject),
      publicCert: certificatePem(signer.certificate),
      signatureAlgorithm: RSA,
      canonicalizationAlgorithm: method,
    });
    maker.addReference({ xpath: '//*[local-name(.)="b"]', digestAlgorithm: SHA256, transforms: [method] });
    maker.computeSignature(`<a xmlns="urn:a" xmlns:n="urn:n">${BODY.replace('<b', '<b n:k="1"')}</a>`);
    const file = maker.getSignedXml();
    // The library omits the chain.
    const others = {
      trust: {
        anchors: [pki().root.certificate],
        intermediates: [pki().issuing.certificate],
        revocation: 'none',
      },
      at: Date.now(),
    } as const;
    const good = validateSignatures('Xades', inspectXadesDocument(Buffer.from(file)), others);
    t.is(good.indication, 'TOTAL-PASSED', JSON.stringify(good, undefined, 1));
    const bad = validateSignatures(
      'Xades',
      inspectXadesDocument(Buffer.from(file.replace(' t ', ' u '))),
      others,
    );
    t.is(bad.signatures[0]?.subIndication, 'HASH_FAILURE');
  }
});

test('text and elements around a signature that covers only its own content are reported', (t) => {
  const data = `<ds:Object xmlns:ds="${DS}" Id="o"><pay>100</pay></ds:Object>`;
  const signature = forge({ references: [{ uri: '#o', data }], objects: data });
  const around = (more: string) => complaints(`<r>${more}${signature}</r>`);
  t.deepEqual(around(' '), []);
  for (const more of ['<pay>999</pay>', '999', '&#57;'])
    t.deepEqual(around(more), ['failed scope.detour SIG_CONSTRAINTS_FAILURE'], more);
});

test('the referenced identifiers are found among very many, and duplicates are detected', (t) => {
  const rows = Array.from({ length: 60_000 }, (_, index) => `<w Id="w${index}"></w>`).join('');
  const data = '<pay Id="p">100</pay>';
  const file = (more: string): string =>
    `<r>${rows}${data}${more}${forge({ references: [{ uri: '#p', data }] })}</r>`;
  t.deepEqual(complaints(file('')), ['warning scope.partial']);
  t.true(complaints(file('<pay ID="p">999</pay>')).includes('failed structure.reference FORMAT_FAILURE'));
});

// ——— properties written by other programs

const withProperties = (change: (properties: string) => string): string =>
  enveloped('<x></x>', { properties: change(goodProperties('sig', ['sig-r0'])) });

test('the older SigningCertificate is read, and its issuer compared as far as possible', (t) => {
  const signer = pki().signer('p-256');
  const digest = createHash('sha1').update(signer.certificate).digest('base64');
  const serial = (text: string, issuer: string): string =>
    withProperties((properties) =>
      properties.replace(
        /<xades:SigningCertificateV2>.*<\/xades:SigningCertificateV2>/s,
        `<xades:SigningCertificate><xades:Cert><xades:CertDigest><ds:DigestMethod xmlns:ds="${DS}" Algorithm="${DS}sha1"></ds:DigestMethod><ds:DigestValue xmlns:ds="${DS}">${digest}</ds:DigestValue></xades:CertDigest><xades:IssuerSerial><ds:X509IssuerName xmlns:ds="${DS}">${issuer}</ds:X509IssuerName><ds:X509SerialNumber xmlns:ds="${DS}">${text}</ds:X509SerialNumber></xades:IssuerSerial></xades:Cert></xades:SigningCertificate>`,
      ),
    );
  const number = BigInt(
    `0x${inspectXadesDocument(Buffer.from(enveloped('<x></x>')))
      .signatures[0]?.certificate?.serial.subarray(2)
      .toString('hex')}`,
  ).toString();
  t.deepEqual(complaints(serial(number, 'CN=Test Issuing CA,O=Sealwright tests,C=XX')), []);
  t.deepEqual(complaints(serial(number, 'C=xx, O="Sealwright  tests", CN=Test Issuing CA')), []);
  t.deepEqual(complaints(serial(number, 'CN=Somebody')), ['warning certificate.issuer-name']);
  t.deepEqual(complaints(serial('1', 'CN=Test Issuing CA,O=Sealwright tests,C=XX')), [
    'failed certificate.binding SIG_CONSTRAINTS_FAILURE',
  ]);
  // Substituting another certificate needs a second preimage, which is not known for SHA-1.
  const [record] = reportOn(serial(number, 'CN=Test Issuing CA,O=Sealwright tests,C=XX')).signatures;
  t.false(record?.results.errors.some(({ type }) => type === 'algorithm.strength'));
  t.true(record?.results.warnings.some(({ type }) => type === 'algorithm.strength'));
});

test('elements of other vocabularies inside of an enveloped signature cause a warning', (t) => {
  const clean = enveloped('<pay>100</pay>', {
    unsigned: '<xades:CompleteCertificateRefs></xades:CompleteCertificateRefs>',
  });
  t.deepEqual(complaints(clean), []);
  const foreign = '<pay xmlns="urn:r">9999</pay>';
  for (const file of [
    clean.replace('<ds:X509Data>', `${foreign}<ds:X509Data>`),
    clean.replace('<ds:X509Data>', `<ds:X509Data>${foreign}`),
    clean.replace('<xades:CompleteCertificateRefs>', `${foreign}<xades:CompleteCertificateRefs>`),
    clean.replace('<xades:CompleteCertificateRefs>', `<xades:CompleteCertificateRefs>${foreign}`),
    clean.replace('</xades:UnsignedSignatureProperties>', `$&<pay xmlns="urn:r">9999</pay>`),
  ]) {
    t.not(file, clean);
    const found = complaints(file);
    const isRefused = found.length > 0 && found.every((one) => one.startsWith('failed'));
    t.true(isRefused || found.includes('warning scope.foreign-element'), found.join());
  }
});

test('text that no standard has in an unsigned part of an enveloped signature is told', (t) => {
  const certificate = pki().signer('p-256').certificate.toString('base64');
  const clean = enveloped('<pay>100</pay>', {
    unsigned:
      '<xades:CompleteCertificateRefs></xades:CompleteCertificateRefs><xades:CertificateValues>' +
      `<xades:EncapsulatedX509Certificate>${certificate}</xades:EncapsulatedX509Certificate></xades:CertificateValues>`,
  });
  t.deepEqual(complaints(clean), []);
  const parts = /<ds:KeyInfo>.*<\/ds:KeyInfo>|<xades:UnsignedProperties>.*<\/xades:UnsignedProperties>/gs;
  for (const { 0: part, index } of clean.matchAll(parts))
    for (const tag of part.matchAll(/<[^>]+>(?=.)/gs)) {
      const at = index + tag.index + tag[0].length;
      const found = complaints(`${clean.slice(0, at)} The price is 999. ${clean.slice(at)}`);
      t.true(found.length > 0, tag[0]);
    }
});

test('a stylesheet before an enveloping signature causes a warning', (t) => {
  const inside = { uri: '#o', data: `<ds:Object xmlns:ds="${DS}" Id="o">100</ds:Object>` };
  const file = forge({ references: [inside], objects: '<ds:Object Id="o">100</ds:Object>' });
  t.deepEqual(complaints(file), []);
  t.deepEqual(complaints(`<!-- <?xml-stylesheet href="x"?> -->${file}`), []);
  const instruction = '<?xml-stylesheet type="text/xsl" href="pay.xsl"?>';
  t.deepEqual(complaints(`${instruction}${file}`), ['warning scope.stylesheet']);
  t.deepEqual(complaints(`<?a <!-- ?>${instruction}<!-- -->${file}`), ['warning scope.stylesheet']);
  t.deepEqual(complaints(`<?a ${instruction.slice(0, -2)}?>${file}`), [], 'the text of another instruction');
  // Each opening must not be searched to the end of the instruction.
  t.deepEqual(complaints(`<?a ${'<!--'.repeat(500_000)}?>${file}`), []);
});

test('an Object that names another type than the signature causes a warning', (t) => {
  const made = (attributes: string): readonly string[] => {
    const content = '<pay Id="p">100</pay>';
    return complaints(
      forge({
        references: [{ uri: '#p', data: content }],
        objects: `<ds:Object ${attributes}>${content}</ds:Object>`,
      }),
    );
  };
  t.false(made('MimeType="text/xml; charset=utf-8"').includes('warning attributes.object-type'));
  t.true(made('MimeType="text/html"').includes('warning attributes.object-type'));
});

test('a missing property of a baseline signature causes a warning and removes the level', (t) => {
  const level = (file: string) => inspectXadesDocument(Buffer.from(file)).signatures[0]?.level;
  t.is(level(withProperties((same) => same)), 'B');
  const untimed = withProperties((text) => text.replace(/<xades:SigningTime>.*<\/xades:SigningTime>/, ''));
  t.deepEqual(complaints(untimed), ['warning attributes.signing-time']);
  t.is(level(untimed), undefined);
  const zoneless = withProperties((text) => text.replace('Z</xades:SigningTime>', '</xades:SigningTime>'));
  t.deepEqual(complaints(zoneless), ['warning attributes.signing-time']);
  const undescribed = withProperties((text) =>
    text.replace(/<xades:DataObjectFormat.*<\/xades:DataObjectFormat>/, ''),
  );
  t.deepEqual(complaints(undescribed), ['warning attributes.data-format']);
  t.is(level(undescribed), undefined);
  const unbound = withProperties((text) =>
    text.replace(/<xades:SigningCertificateV2>.*<\/xades:SigningCertificateV2>/, ''),
  );
  t.deepEqual(complaints(unbound), ['warning certificate.binding']);
  t.is(level(unbound), undefined);
});

test('explicit policies are reported with their identifier, and implied ones as such', (t) => {
  const policy = (inside: string): string =>
    withProperties((text) =>
      text.replace(
        '</xades:SigningCertificateV2>',
        `</xades:SigningCertificateV2><xades:SignaturePolicyIdentifier>${inside}</xades:SignaturePolicyIdentifier>`,
      ),
    );
  const named = (identifier: string): string =>
    policy(
      `<xades:SignaturePolicyId><xades:SigPolicyId><xades:Identifier>${identifier}</xades:Identifier></xades:SigPolicyId></xades:SignaturePolicyId>`,
    );
  const found = (file: string) => inspectXadesDocument(Buffer.from(file)).signatures[0]?.policy;
  t.is(found(named('urn:oid:1.2.3.4')), '1.2.3.4');
  t.is(found(named('1.2.3.4')), '1.2.3.4');
  t.is(found(named('https://example.org/policy')), 'https://example.org/policy');
  const implied = policy('<xades:SignaturePolicyImplied></xades:SignaturePolicyImplied>');
  t.is(found(implied), undefined);
  t.true(
    inspectXadesDocument(Buffer.from(implied)).signatures[0]?.findings.some(
      ({ type }) => type === 'attributes.policy',
    ),
  );
  t.deepEqual(complaints(policy('')), ['failed structure.signature FORMAT_FAILURE']);
});

test('SHA-1 in a reference is read, and judged by the algorithm policy alone', (t) => {
  const digest = createHash('sha1').update('<r><x></x></r>').digest('base64');
  const file = enveloped('<x></x>', {
    references: [
      {
        uri: '',
        data: '',
        transforms: transform(ENVELOPED) + transform(EXC),
        digestValue: `<ds:DigestValue>${digest}</ds:DigestValue>`,
      },
    ],
    signedInfo: (text) => text.replace(SHA256, `${DS}sha1`),
  });
  t.deepEqual(complaints(file), []);
  t.true(
    inspectXadesDocument(Buffer.from(file)).signatures[0]?.algorithms.some(({ name }) => name === 'sha1'),
  );
  t.is(reportOn(file).indication, 'INDETERMINATE');
  t.is(reportOn(enveloped('<x></x>')).indication, 'TOTAL-PASSED');
});

test('a damaged signed file gets a report, and passes only with the signed content', (t) => {
  const { bytes } = signDocument(DOCUMENT);
  for (let at = 1; at < bytes.length; at += 29) {
    const damaged = [
      bytes.subarray(0, at),
      Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 7)]),
      Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + 50), bytes.subarray(at)]),
    ];
    for (const file of damaged) {
      if (reportOn(file).indication === 'TOTAL-PASSED')
        t.true(file.includes('<pay Id="x" to="A">100</pay><last/>'));
    }
  }
  t.pass();
});
