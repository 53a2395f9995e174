import { createHash } from 'node:crypto';
import test from 'ava';
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

const toolTest = withTools(test, 'xmlsec1', 'xmllint', 'openssl');

test.after.always(closeAuthority);

const DOCUMENT = '<?xml version="1.0"?>\n<a xmlns="urn:u" Id="x"><b>text</b></a>\n';
const FORM = { coSignable: true, completeReferences: true };

const sha256 = (der: Buffer): string => createHash('sha256').update(der).digest('base64');

function texts(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found]) => found ?? '');
}

toolTest.serial(
  'complete references list every certificate except that of the signer, every revocation value, and nothing else',
  async (t) => {
    const { pki } = await authority();
    const { bytes, path } = await signAt(DOCUMENT, 'LT', FORM);
    t.deepEqual(unsignedProperties(bytes), [
      'SignatureTimeStamp',
      'TimeStampValidationData',
      'CompleteCertificateRefsV2',
      'CompleteRevocationRefs',
      'CertificateValues',
      'RevocationValues',
    ]);
    t.is(await judgedLevel(path), 'LT');
    const text = bytes.toString();
    const values = (pattern: RegExp): string[] =>
      texts(text, pattern).map((base64) => sha256(Buffer.from(base64, 'base64')));
    const certificates = values(/<(?:ds:X509Certificate|xades:EncapsulatedX509Certificate)>([^<]*)</g);
    const refs = /<xades141:CertRefs>.*<\/xades141:CertRefs>/s.exec(text)?.[0] ?? '';
    const digests = texts(refs, /<ds:DigestValue[^>]*>([^<]*)</g);
    t.true(digests.length >= 2, 'chain and root');
    t.true(digests.every((digest) => certificates.includes(digest)));
    const signer = pki.signer('p-256');
    t.false(digests.includes(sha256(signer.certificate)));
    t.true(signer.chain.every((der) => digests.includes(sha256(der))));
    t.true(digests.includes(sha256(pki.root.certificate)));
    const revocation =
      /<xades:CompleteRevocationRefs.*<\/xades:CompleteRevocationRefs>/s.exec(text)?.[0] ?? '';
    const named = texts(revocation, /<ds:DigestValue[^>]*>([^<]*)</g);
    const there = values(/<xades:Encapsulated(?:CRL|OCSP)Value>([^<]*)</g);
    t.true(named.length >= 1 && named.every((digest) => there.includes(digest)));
    t.is(new Set(named).size, named.length);
    const issuers = texts(revocation, /<xades:Issuer>([^<]*)</g);
    t.true(
      issuers.every((name) => name.includes('CN=')),
      issuers.join(),
    );
    t.regex(revocation, /<xades:(?:ByKey|ByName|IssueTime)>/);
    const seen = await byXmlsecAt(path);
    t.true(seen.ok && seen.references === 2 && seen.referencesOk === 2, seen.text);
  },
);

toolTest.serial('an archive time-stamp covers complete references in their written form', async (t) => {
  const { input, path, bytes } = await signAt(DOCUMENT, 'LTA', FORM);
  const covered = Buffer.from((await runTool('xmllint', ['--exc-c14n', input])).stdout);
  const [token = Buffer.alloc(0)] = tokensIn(bytes, 'ArchiveTimeStamp');
  t.is(await judgedLevel(path), 'LTA');
  t.true(await tokenIsOver(token, await archivedByXmllint(path, covered, { before: 6 })));
});

test.serial('complete references without their values are not made', async (t) => {
  await t.throwsAsync(signAt(DOCUMENT, 'T', FORM), { code: 'request.invalid', message: /level LT/ });
});
