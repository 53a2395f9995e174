import { readFileSync } from 'node:fs';
import test from 'ava';
import type { SignatureParameters } from '#crypto/core/types.js';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { byXmlsec, failed, newFile, signDocument, valueIsRight, verdict } from './signing.ts';

const toolTest = withTools(test, 'xmllint', 'xmlsec1');

const DOCUMENT = '<r Id="x" xmlns:p="urn:p"><p:a>text</p:a></r>';
const URI_2007 = 'http://www.w3.org/2007/05/xmldsig-more#';

/** Signature algorithms that xmlsec1 before 1.3 does not know. */
const OWN_CHECK: readonly (readonly [KeyKind, Partial<SignatureParameters>, string])[] = [
  ['rsa-2048', { padding: 'pss', digest: 'sha256' }, `${URI_2007}sha256-rsa-MGF1`],
  ['rsa-2048', { padding: 'pss', digest: 'sha384' }, `${URI_2007}sha384-rsa-MGF1`],
  ['rsa-3072', { padding: 'pss', digest: 'sha512' }, `${URI_2007}sha512-rsa-MGF1`],
  ['ed25519', {}, 'http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519'],
];

for (const [kind, parameters, uri] of OWN_CHECK) {
  toolTest(
    `OpenSSL accepts the value over SignedInfo in the canonical form of xmllint: ${uri.split('#')[1]}`,
    async (t) => {
      const signer = pki().signer(kind);
      const signed = signDocument(DOCUMENT, { signer, ...parameters });
      t.true(signed.bytes.toString().includes(`<ds:SignatureMethod Algorithm="${uri}">`));
      t.deepEqual(failed(verdict(signed.path, signed.original, signer)), []);
      t.true(await valueIsRight(signed.path));
      t.false(
        await valueIsRight(signed.path, (info) =>
          Buffer.from(info.toString().replace('Algorithm', 'algorithm')),
        ),
      );
    },
  );
}

for (const packaging of ['element', 'enveloping', 'detached'] as const) {
  for (const kind of ['rsa-2048', 'p-256', 'p-384', 'p-521'] as const) {
    for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
      if (packaging === 'detached' || (kind !== 'p-256' && digest !== 'sha384')) continue;
      toolTest.serial(`xmlsec1 accepts a key of kind ${kind} with ${digest}, ${packaging}`, async (t) => {
        const signed = signDocument(DOCUMENT, {
          signer: pki().signer(kind),
          digest,
          xades: { packaging, elementId: 'x' },
        });
        const idAttributes = [
          ['Id', 'r'],
          ['Id', 'http://www.w3.org/2000/09/xmldsig#:Object'],
        ] as const;
        const good = await byXmlsec(signed.path, { idAttributes });
        t.true(good.ok && good.referencesOk === 2 && good.references === 2, good.text);
        const changed = newFile(signed.bytes.toString('latin1').replace('text', 'tent'));
        t.false((await byXmlsec(changed, { idAttributes })).ok);
      });
    }
  }
}

test('Ed25519 uses SHA-512 for all digests', (t) => {
  const { bytes } = signDocument(DOCUMENT, { signer: pki().signer('ed25519'), digest: 'sha256' });
  const methods = [...bytes.toString().matchAll(/<ds:DigestMethod Algorithm="([^"]*)"/g)].map(
    ([, uri]) => uri,
  );
  t.deepEqual([...new Set(methods)], ['http://www.w3.org/2001/04/xmlenc#sha512']);
});

toolTest('KeyInfo without the chain contains the signer alone', async (t) => {
  const signer = pki().signer('rsa-2048');
  const count = (bytes: Buffer): number => bytes.toString().split('<ds:X509Certificate>').length - 1;
  t.is(count(signDocument(DOCUMENT, { signer }).bytes), 2);
  const alone = signDocument(DOCUMENT, { signer, includeChain: false });
  t.is(count(alone.bytes), 1);
  // Without the intermediate, xmlsec1 finds no chain.
  t.false((await byXmlsec(alone.path)).ok);
});

toolTest('an explicit policy is signed with identifier, digest and location', async (t) => {
  const hash = Buffer.alloc(48, 3);
  const policy = {
    oid: '1.3.6.1.4.1.99.1',
    digest: 'sha384',
    hash,
    uri: 'https://policy.example/p?a=1&b=2',
  } as const;
  const signed = signDocument(DOCUMENT, { policy });
  const text = signed.bytes.toString();
  t.regex(
    text,
    /<\/xades:SigningCertificateV2><xades:SignaturePolicyIdentifier><xades:SignaturePolicyId><xades:SigPolicyId><xades:Identifier Qualifier="OIDAsURN">urn:oid:1\.3\.6\.1\.4\.1\.99\.1<\/xades:Identifier><\/xades:SigPolicyId><xades:SigPolicyHash>/,
  );
  t.true(text.includes(`xmldsig-more#sha384"></ds:DigestMethod><ds:DigestValue>${hash.toString('base64')}<`));
  t.true(text.includes('<xades:SPURI>https://policy.example/p?a=1&amp;b=2</xades:SPURI>'));
  const good = await byXmlsec(signed.path);
  t.true(good.ok && good.referencesOk === 2, good.text);
  t.false((await byXmlsec(newFile(text.replace('policy.example', 'policy.exampel')))).ok);
});

test('a policy with an identifier other than an OID, or a location other than a URI, is refused', (t) => {
  const hash = Buffer.alloc(32);
  for (const policy of [
    { oid: 'urn:oid:1.2', digest: 'sha256', hash },
    { oid: '1.2.3', digest: 'sha256', hash, uri: '<a b>' },
  ] as const) {
    const error = t.throws(() => signDocument(DOCUMENT, { policy }));
    t.is((error as Error & { code?: string }).code, 'request.invalid');
  }
});

test('signed properties are in the order of the schema', (t) => {
  const policy = { oid: '1.2.3', digest: 'sha256', hash: Buffer.alloc(32) } as const;
  const { path } = signDocument(DOCUMENT, { policy });
  const names = [...readFileSync(path, 'utf8').matchAll(/<(?:ds|xades):([A-Za-z0-9]+)/g)].map(
    ([, name]) => name ?? '',
  );
  const order = [
    'Signature',
    'SignedInfo',
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
    'SignatureValue',
    'KeyInfo',
    'X509Data',
    'Object',
    'QualifyingProperties',
    'SignedProperties',
    'SignedSignatureProperties',
    'SigningTime',
    'SigningCertificateV2',
    'Cert',
    'CertDigest',
    'IssuerSerialV2',
    'SignaturePolicyIdentifier',
    'SignaturePolicyId',
    'SigPolicyId',
    'Identifier',
    'SigPolicyHash',
    'SignedDataObjectProperties',
    'DataObjectFormat',
    'MimeType',
  ];
  t.deepEqual(
    names.filter((name, index) => order.includes(name) && names.indexOf(name) === index),
    order,
  );
});
