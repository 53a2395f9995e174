import { readFileSync } from 'node:fs';
import test from 'ava';
import type { SignatureLevel, XadesFormat } from '#crypto/core/types.js';
import { runTool, withTools } from '../../verifiers/index.ts';
import {
  archivedByXmllint,
  authority,
  byXmlsecAt,
  closeAuthority,
  judgedLevel,
  signAt,
  tokenIsOver,
  tokensIn,
  unsignedProperties,
} from './levels-harness.ts';
import { canonicalByXmllint, elementPath, newFile } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1', 'xmllint', 'openssl');

test.after.always(closeAuthority);

const DOCUMENT = '<?xml version="1.0"?>\n<a xmlns="urn:u" Id="x"><b>text</b></a>\n';
const ARCHIVED = [
  'SignatureTimeStamp',
  'TimeStampValidationData',
  'CertificateValues',
  'RevocationValues',
  'ArchiveTimeStamp',
];

const EXPECTED: { readonly [level in SignatureLevel]: readonly string[] } = {
  B: [],
  T: ['SignatureTimeStamp'],
  LT: ARCHIVED.slice(0, 4),
  LTA: ARCHIVED,
};

for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
  toolTest.serial(`level ${level} has its unsigned properties, and xmlsec1 accepts the file`, async (t) => {
    const signed = await signAt(DOCUMENT, level);
    t.deepEqual(level === 'B' ? [] : unsignedProperties(signed.bytes), EXPECTED[level]);
    t.is(signed.bytes.includes('UnsignedProperties'), level !== 'B');
    t.is(await judgedLevel(signed.path), level);
    const good = await byXmlsecAt(signed.path);
    t.true(good.ok && good.references === 2 && good.referencesOk === 2, good.text);
    const changed = newFile(signed.bytes.toString().replace('text', 'tent'));
    t.false((await byXmlsecAt(changed)).ok);
  });
}

toolTest.serial('the signature time-stamp covers the canonical SignatureValue alone', async (t) => {
  for (const kind of ['rsa-2048', 'p-384', 'ed25519'] as const) {
    const { path, bytes } = await signAt(DOCUMENT, 'T', {}, { kind });
    const [token = Buffer.alloc(0)] = tokensIn(bytes, 'SignatureTimeStamp');
    t.true(await tokenIsOver(token, await canonicalByXmllint(path, elementPath('SignatureValue'))), kind);
    t.false(await tokenIsOver(token, await canonicalByXmllint(path, elementPath('SignedInfo'))), kind);
  }
});

const FORMS: {
  readonly [name: string]: {
    readonly document: string | Buffer;
    readonly xades: XadesFormat;
    readonly data: 'canonical' | 'object' | 'bytes';
    readonly extension?: string;
  };
} = {
  enveloped: { document: DOCUMENT, xades: {}, data: 'canonical' },
  'enveloped for several signers': { document: DOCUMENT, xades: { coSignable: true }, data: 'canonical' },
  'enveloping XML': { document: DOCUMENT, xades: { packaging: 'enveloping' }, data: 'object' },
  'enveloping Base64': {
    document: 'plain text',
    xades: { packaging: 'enveloping' },
    data: 'bytes',
    extension: 'txt',
  },
  detached: { document: 'plain text', xades: { packaging: 'detached' }, data: 'bytes', extension: 'txt' },
};

for (const [name, { document, xades, data, extension }] of Object.entries(FORMS)) {
  toolTest.serial(
    `an independent computation gives the same imprint of the archive time-stamp: ${name}`,
    async (t) => {
      const { input, path, bytes } = await signAt(
        document,
        'LTA',
        xades,
        extension === undefined ? {} : { extension },
      );
      const object = "//*[local-name()='Object'][@MimeType]";
      const covered =
        data === 'canonical'
          ? Buffer.from((await runTool('xmllint', ['--exc-c14n', input])).stdout)
          : data === 'object'
            ? await canonicalByXmllint(path, object)
            : readFileSync(input);
      const [token = Buffer.alloc(0)] = tokensIn(bytes, 'ArchiveTimeStamp');
      const inside = xades.packaging === 'enveloping' ? object : undefined;
      t.is(await judgedLevel(path, data === 'bytes' ? input : undefined), 'LTA');
      t.true(await tokenIsOver(token, await archivedByXmllint(path, covered, { before: 4, object: inside })));
      t.false(
        await tokenIsOver(token, await archivedByXmllint(path, covered, { before: 3, object: inside })),
      );
    },
  );
}

toolTest.serial(
  'openssl reads embedded certificates, CRLs and OCSP answers, which cover signer and time-stamps',
  async (t) => {
    const { bytes } = await signAt(DOCUMENT, 'LT');
    const text = bytes.toString();
    const values = (name: string): Buffer[] =>
      [...text.matchAll(new RegExp(`<xades:${name}>([^<]*)<`, 'g'))].map(([, base64]) =>
        Buffer.from(base64 ?? '', 'base64'),
      );
    const certificates = values('EncapsulatedX509Certificate');
    const crls = values('EncapsulatedCRLValue');
    const ocsps = values('EncapsulatedOCSPValue');
    t.true(certificates.length >= 2 && crls.length >= 1 && ocsps.length >= 2);
    const all = [...certificates, ...crls, ...ocsps].map((der) => der.toString('base64'));
    t.is(new Set(all).size, all.length, 'nothing is there twice');
    const ok = async (...args: string[]): Promise<boolean> => (await runTool('openssl', args)).exit === 0;
    for (const der of certificates)
      t.true(await ok('x509', '-inform', 'DER', '-in', newFile(der, 'cer'), '-noout'));
    for (const der of crls) t.true(await ok('crl', '-inform', 'DER', '-in', newFile(der, 'crl'), '-noout'));
    for (const der of ocsps)
      t.true(await ok('ocsp', '-respin', newFile(der, 'ors'), '-noverify', '-resp_text'));
    const { pki } = await authority();
    const inside = [
      ...certificates,
      ...[...text.matchAll(/<ds:X509Certificate>([^<]*)</g)].map(([, base64]) =>
        Buffer.from(base64 ?? '', 'base64'),
      ),
    ];
    t.true(inside.some((der) => der.equals(pki.root.certificate)));
    t.true(
      text.includes(`TimeStampValidationData xmlns:xades141="http://uri.etsi.org/01903/v1.4.1#" URI="#`),
    );
  },
);

test.serial('identifiers of time-stamps are unique in the document', async (t) => {
  const { bytes } = await signAt(DOCUMENT, 'LTA');
  const ids = [...bytes.toString().matchAll(/ Id="([^"]*)"/g)].map(([, id]) => id);
  t.is(new Set(ids).size, ids.length);
  t.true(ids.length >= 7);
});
