import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import type { AugmentFileRequest, XadesFormat } from '#crypto/core/types.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { augmentXades } from '#crypto/xades/augment.js';
import { counterSignXades } from '#crypto/xades/counter-sign.js';
import { keyPemOf } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import {
  archivedByXmllint,
  augmented,
  authority,
  byXmlsecAt,
  closeAuthority,
  judgedLevel,
  type Leveled,
  signAt,
  tokenIsOver,
  tokensIn,
  unsignedProperties,
} from './levels-harness.ts';
import { canonicalByXmllint, NOW, newFile, newPath } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1', 'xmllint', 'openssl');

test.after.always(closeAuthority);

const DOCUMENT = '<?xml version="1.0"?>\n<a xmlns="urn:u" Id="x"><b>text</b></a>\n';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const XADES = 'http://uri.etsi.org/01903/v1.3.2#';
const LEVELS = ['T', 'LT', 'LTA', 'LTA'] as const;
const AT_LTA = [
  'SignatureTimeStamp',
  'TimeStampValidationData',
  'CertificateValues',
  'RevocationValues',
  'ArchiveTimeStamp',
];

const FORMS: {
  readonly [name: string]: {
    readonly document: string;
    readonly xades: XadesFormat;
    readonly extension?: string;
  };
} = {
  enveloped: { document: DOCUMENT, xades: {} },
  'one element': { document: '<r><a Id="x">text</a></r>', xades: { packaging: 'element', elementId: 'x' } },
  enveloping: { document: DOCUMENT, xades: { packaging: 'enveloping' } },
  'enveloping Base64': { document: 'plain text', xades: { packaging: 'enveloping' }, extension: 'txt' },
  detached: { document: 'plain text', xades: { packaging: 'detached' }, extension: 'txt' },
};

/** True when `after` is `before` with one insertion. */
function isInsertion(before: Buffer, after: Buffer): boolean {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const rest = before.length - same;
  return after.subarray(after.length - rest).equals(before.subarray(same));
}

for (const [name, { document, xades, extension }] of Object.entries(FORMS)) {
  toolTest.serial(
    `a signature is augmented from B to T, LT, LTA and a renewed LTA by insertions alone: ${name}`,
    async (t) => {
      const first = await signAt(document, 'B', xades, extension === undefined ? {} : { extension });
      let now: Leveled = first;
      for (const to of LEVELS) {
        const next = await augmented(now.path, to, xades.packaging === 'detached' ? first.input : undefined);
        t.true(isInsertion(now.bytes, next.bytes), to);
        t.is(await judgedLevel(next.path, first.input), to);
        now = next;
      }
      t.deepEqual(unsignedProperties(now.bytes), [...AT_LTA, 'TimeStampValidationData', 'ArchiveTimeStamp']);
      if (xades.packaging === 'detached') return;
      const good = await byXmlsecAt(now.path);
      t.true(good.ok && good.referencesOk === 2, good.text);
    },
  );
}

toolTest.serial(
  'each archive time-stamp of a renewed signature covers the properties before it',
  async (t) => {
    const first = await signAt(DOCUMENT, 'LTA');
    const renewed = await augmented(first.path, 'LTA');
    const data = Buffer.from((await runTool('xmllint', ['--exc-c14n', first.input])).stdout);
    const [older = Buffer.alloc(0), newer = Buffer.alloc(0)] = tokensIn(renewed.bytes, 'ArchiveTimeStamp');
    t.true(await tokenIsOver(older, await archivedByXmllint(renewed.path, data, { before: 4 })));
    t.true(await tokenIsOver(newer, await archivedByXmllint(renewed.path, data, { before: 6 })));
    t.false(await tokenIsOver(newer, await archivedByXmllint(renewed.path, data, { before: 4 })));
  },
);

test.serial('augmentation at once and step by step gives the same kinds of properties', async (t) => {
  const direct = await signAt(DOCUMENT, 'LTA');
  const base = await signAt(DOCUMENT, 'B');
  const raised = await augmented(base.path, 'LTA');
  t.deepEqual(unsignedProperties(raised.bytes), unsignedProperties(direct.bytes));
});

test.serial('existing evidence is not added again', async (t) => {
  const signed = await signAt(DOCUMENT, 'LT');
  for (const to of ['T', 'LT'] as const) t.deepEqual((await augmented(signed.path, to)).bytes, signed.bytes);
});

/** Namespace declarations around the parts. */
const AROUND = { '': DS, q: XADES };

/** Signs by xmlsec1 in a different style: default namespace, inclusive canonicalization, other prefixes. */
async function foreign(t: ExecutionContext, unsigned: string, encoding?: 'UTF-16'): Promise<string> {
  const { pki } = await authority();
  const signer = pki.signer('rsa-2048');
  const reference = (uri: string, inside: string): string =>
    `<Reference URI="${uri}"${uri === '' ? '' : ' Type="http://uri.etsi.org/01903#SignedProperties"'}>${inside}<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>\n<DigestValue/></Reference>`;
  const template = `<?xml version="1.0"?>
<doc xmlns="urn:doc" xmlns:q="${XADES}" xml:lang="en"><p>text</p>
<Signature xmlns="${DS}" Id="S"><SignedInfo>
  <CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>
  <SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>
  ${reference('', `<Transforms><Transform Algorithm="${DS}enveloped-signature"/></Transforms>`)}
  ${reference('#SP', '')}
</SignedInfo><SignatureValue Id="V"/><KeyInfo><X509Data/></KeyInfo>
<Object><q:QualifyingProperties Target="#S"><q:SignedProperties Id="SP"><q:SignedSignatureProperties>
<q:SigningTime>2026-01-01T00:00:00Z</q:SigningTime></q:SignedSignatureProperties></q:SignedProperties>${unsigned}</q:QualifyingProperties></Object>
</Signature></doc>`;
  const key = newFile(keyPemOf(signer.key.keyObject), 'pem');
  const certificate = newFile(certificatePem(signer.certificate), 'crt');
  const chain = newFile(certificatePem(pki.issuing.certificate), 'crt');
  const output = newPath();
  const { exit, stderr } = await runTool('xmlsec1', [
    '--sign',
    '--privkey-pem',
    `${key},${certificate},${chain}`,
    '--id-attr:Id',
    `${XADES}:SignedProperties`,
    '--output',
    output,
    newFile(template),
  ]);
  t.is(exit, 0, stderr);
  if (encoding === undefined) return output;
  // Another encoding changes no character and thus no signature.
  const text = readFileSync(output, 'utf8').replace(
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-16"?>',
  );
  return newFile(Buffer.from(`\uFEFF${text}`, 'utf16le'));
}

const OTHERS: { readonly [name: string]: string } = {
  'no unsigned properties': '',
  'an empty-element tag for unsigned properties': '<q:UnsignedProperties/>',
  'an empty list of them':
    '<q:UnsignedProperties>\n<q:UnsignedSignatureProperties />\n</q:UnsignedProperties>',
  'an empty list with a prefix of its own': `<o:UnsignedProperties xmlns:o="${XADES}"><o:UnsignedSignatureProperties></o:UnsignedSignatureProperties ></o:UnsignedProperties>`,
  'unsigned properties of the data':
    '<q:UnsignedProperties><q:UnsignedDataObjectProperties><q:UnsignedDataObjectProperty>x</q:UnsignedDataObjectProperty></q:UnsignedDataObjectProperties></q:UnsignedProperties>',
};

for (const [name, unsigned] of Object.entries(OTHERS)) {
  toolTest.serial(
    `a signature of another program is augmented to LTA and stays valid: ${name}`,
    async (t) => {
      const path = await foreign(t, unsigned);
      t.true((await byXmlsecAt(path)).ok);
      const raised = await augmented(path, 'LTA');
      const good = await byXmlsecAt(raised.path);
      t.true(good.ok && good.referencesOk === 2, good.text);
      t.deepEqual(unsignedProperties(raised.bytes), AT_LTA);
      const text = raised.bytes.toString();
      if (name.endsWith('of the data'))
        t.true(
          text.indexOf(':UnsignedSignatureProperties>') < text.indexOf(':UnsignedDataObjectProperties>'),
        );
      const [token = Buffer.alloc(0)] = tokensIn(raised.bytes, 'SignatureTimeStamp');
      t.true(
        await tokenIsOver(
          token,
          await canonicalByXmllint(raised.path, "//*[local-name()='SignatureValue']", AROUND),
        ),
      );
      const data = newFile(text.replace(/<Signature .*<\/Signature>/s, ''));
      const canonical = Buffer.from((await runTool('xmllint', ['--exc-c14n', data])).stdout);
      const [archive = Buffer.alloc(0)] = tokensIn(raised.bytes, 'ArchiveTimeStamp');
      t.true(
        await tokenIsOver(
          archive,
          await archivedByXmllint(raised.path, canonical, { before: 4, object: undefined, around: AROUND }),
        ),
      );
      t.false(
        await tokenIsOver(
          archive,
          await archivedByXmllint(raised.path, canonical, { before: 3, object: undefined, around: AROUND }),
        ),
      );
    },
  );
}

toolTest.serial('a signature in UTF-16 is augmented in UTF-16', async (t) => {
  const path = await foreign(t, '<q:UnsignedProperties/>', 'UTF-16');
  const raised = await augmented(path, 'LTA');
  t.deepEqual(unsignedProperties(Buffer.from(raised.bytes.toString('utf16le'))), AT_LTA);
  const good = await byXmlsecAt(raised.path);
  t.true(good.ok && good.referencesOk === 2, good.text);
});

const refused = async (
  t: ExecutionContext,
  input: string | Buffer,
  code: string,
  more: Partial<AugmentFileRequest> = {},
): Promise<string> => {
  const { services } = await authority();
  const output = newPath();
  const request = { format: 'Xades', input: newFile(input), output, to: 'LTA', at: NOW, ...more } as const;
  const error = await t.throwsAsync(augmentXades(request, services));
  t.is((error as Error & { code?: string }).code, code, error?.message);
  t.false(existsSync(output));
  return error?.message ?? '';
};

test.serial('a broken signature, and a file without one, are not augmented', async (t) => {
  const { bytes } = await signAt(DOCUMENT, 'B');
  const text = bytes.toString();
  t.regex(
    await refused(t, text.replace('text', 'tent'), 'signature.mismatch'),
    /another digest than was signed/,
  );
  t.regex(
    await refused(t, text.replace(/SigningTime>2/, 'SigningTime>1'), 'signature.mismatch'),
    /another digest than was signed/,
  );
  const value = /<ds:SignatureValue [^>]*>([^<]*)</.exec(text)?.[1] ?? '';
  t.regex(
    await refused(
      t,
      text.replace(value, `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`),
      'signature.mismatch',
    ),
    /signature value is wrong|does not fit/,
  );
  await refused(t, DOCUMENT, 'request.invalid');
  await refused(t, 'no XML', 'xml.malformed');
  await refused(t, `<r><Signature xmlns="${DS}"/></r>`, 'request.invalid');
});

test.serial('a signature that another one covers is left unchanged', async (t) => {
  const inner = await signAt('<r><a Id="x">text</a></r>', 'B', { packaging: 'element', elementId: 'x' });
  const outer = await signAt(inner.bytes, 'B');
  const raised = await augmented(outer.path, 'T');
  t.is(tokensIn(raised.bytes, 'SignatureTimeStamp').length, 1);
  t.true(raised.bytes.lastIndexOf('SignatureTimeStamp') > raised.bytes.lastIndexOf('<ds:Signature '));
  // Another signature over the whole document covers everything.
  const whole = `<Signature xmlns="${DS}"><SignedInfo><Reference URI=""><Transforms><Transform Algorithm="${DS}enveloped-signature"/></Transforms><DigestMethod Algorithm="${DS}sha1"/><DigestValue>AAAA</DigestValue></Reference></SignedInfo></Signature>`;
  const sealed = inner.bytes.toString().replace('</r>', `${whole}</r>`);
  t.regex(await refused(t, sealed, 'xml.existing-signature'), /another signature is over it/);
  const beside = sealed.replace('URI=""', 'URI="#x"');
  t.is(tokensIn((await augmented(newFile(beside), 'T')).bytes, 'SignatureTimeStamp').length, 1);
});

test.serial('several sibling signatures are augmented at once', async (t) => {
  const first = await signAt(DOCUMENT, 'B', { coSignable: true });
  const second = await signAt(first.bytes, 'B', { coSignable: true }, { kind: 'rsa-2048' });
  const raised = await augmented(second.path, 'LTA');
  t.is(tokensIn(raised.bytes, 'SignatureTimeStamp').length, 2);
  t.is(tokensIn(raised.bytes, 'ArchiveTimeStamp').length, 2);
  const again = await augmented(raised.path, 'LTA');
  t.is(tokensIn(again.bytes, 'ArchiveTimeStamp').length, 4);
});

test.serial(
  'a detached signature needs its content for an archive time-stamp, and refuses other content at any level',
  async (t) => {
    const signed = await signAt('plain text', 'B', { packaging: 'detached' }, { extension: 'txt' });
    t.is(tokensIn((await augmented(signed.path, 'T')).bytes, 'SignatureTimeStamp').length, 1);
    t.regex(await refused(t, signed.bytes, 'request.invalid'), /not at hand/);
    const other = newFile('plain tent', 'txt');
    t.regex(
      await refused(t, signed.bytes, 'signature.mismatch', { content: other, to: 'T' }),
      /another digest/,
    );
    await refused(t, signed.bytes, 'input.unreadable', { content: newPath() });
  },
);

const counterSigned = async (input: string, more: Partial<Parameters<typeof counterSignXades>[0]> = {}) => {
  const { pki, services } = await authority();
  const output = newPath();
  const signer = pki.signer('rsa-2048');
  const file = await counterSignXades({ input, output, signer, at: NOW, ...more }, services);
  return { path: output, bytes: readFileSync(output), file };
};

toolTest.serial('a counter-signature covers the value of its signature, and both are valid', async (t) => {
  const signed = await signAt(DOCUMENT, 'T');
  const counter = await counterSigned(signed.path);
  t.deepEqual(unsignedProperties(counter.bytes), ['SignatureTimeStamp', 'CounterSignature']);
  t.true(isInsertion(signed.bytes, counter.bytes));
  t.is(counter.file.output.sha256, createHash('sha256').update(counter.bytes).digest('hex'));
  const { pki } = await authority();
  const inner =
    /<xades:CounterSignature[^>]*><ds:Signature [^>]*Id="([^"]*)"/.exec(counter.bytes.toString())?.[1] ?? '';
  const verify = (path: string, id?: string) =>
    runTool('xmlsec1', [
      '--verify',
      '--enabled-key-data',
      'x509',
      '--trusted-pem',
      pki.rootFile,
      '--id-attr:Id',
      `${XADES}:SignedProperties`,
      '--id-attr:Id',
      `${DS}:SignatureValue`,
      '--id-attr:Id',
      `${DS}:Signature`,
      ...(id === undefined ? [] : ['--node-id', id]),
      path,
    ]);
  t.is((await verify(counter.path)).exit, 0);
  const good = await verify(counter.path, inner);
  t.is(good.exit, 0, good.stderr);
  t.regex(good.stdout + good.stderr, /\(ok\/all\): 2\/2/);
  const other = await signAt(DOCUMENT.replace('text', 'tent'), 'T');
  const value = (bytes: Buffer): string =>
    /<ds:SignatureValue [^>]*>([^<]*)</.exec(bytes.toString())?.[1] ?? '';
  const swapped = newFile(counter.bytes.toString().replace(value(signed.bytes), value(other.bytes)));
  t.not((await verify(swapped, inner)).exit, 0);
});

toolTest.serial('a counter-signature has its own level, and selects its signature by Id', async (t) => {
  const first = await signAt(DOCUMENT, 'B', { coSignable: true });
  const second = await signAt(first.bytes, 'B', { coSignable: true }, { kind: 'rsa-2048' });
  const [id = ''] = [...second.bytes.toString().matchAll(/<ds:Signature [^>]*Id="([^"]*)"/g)].map(
    ([, found]) => found ?? '',
  );
  const one = await counterSigned(second.path, { of: id, level: 'LTA' });
  t.is(one.bytes.toString().split('<xades:CounterSignature').length - 1, 1);
  t.is(tokensIn(one.bytes, 'ArchiveTimeStamp').length, 1);
  const both = await counterSigned(second.path);
  t.is(both.bytes.toString().split('<xades:CounterSignature').length - 1, 2);
  const error = await t.throwsAsync(counterSigned(second.path, { of: 'nobody' }));
  t.is((error as Error & { code?: string }).code, 'request.invalid');
  const path = await foreign(t, '');
  const foreignToo = await counterSigned(path);
  t.true((await byXmlsecAt(foreignToo.path)).ok);
});

test.serial('a signature whose value has no Id is refused for counter-signing', async (t) => {
  const { bytes } = await signAt(DOCUMENT, 'B');
  const nameless = newFile(bytes.toString().replace(/<ds:SignatureValue Id="[^"]*"/, '<ds:SignatureValue'));
  const error = await t.throwsAsync(counterSigned(nameless));
  t.is((error as Error & { code?: string }).code, 'request.invalid');
});

test.serial('augmenting and counter-signing do not overwrite an existing output', async (t) => {
  const { path } = await signAt(DOCUMENT, 'B');
  const { services, pki } = await authority();
  const output = newFile('mine');
  const request = { input: path, output, at: NOW } as const;
  await t.throwsAsync(augmentXades({ ...request, format: 'Xades', to: 'T' }, services));
  await t.throwsAsync(counterSignXades({ ...request, signer: pki.signer('p-256') }));
  t.is(readFileSync(output, 'utf8'), 'mine');
  writeFileSync(output, '');
});
