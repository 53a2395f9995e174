/**
 * Verification of enveloped XAdES-B-B signatures (EN 319 132-1, EN 319 102-1 §5.3 as far as it needs no evidence from
 * outside). Trusts nothing that signing left behind: the file is read afresh.
 */
import { constants, createHash, verify } from 'node:crypto';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { checkChain, checkKeyUsage, checkSigner, checkValidity } from '../certificates/path.ts';
import { openSource } from '../files/source.ts';
import {
  type Check,
  CryptoError,
  type DigestName,
  type KeyType,
  type SignatureAlgorithm,
  type VerificationReport,
  type VerifyFileRequest,
} from '../types.ts';
import { type DecodedXml, decodeXml, MAX_DOCUMENT_LENGTH, type RootPlace, readXml } from '../xml/index.ts';
import { digestOf, signatureMethodOf } from './identifiers.ts';
import { readDocument } from './read-document.ts';
import { digestReferences } from './reference-digests.ts';
import { FormFault, readSignatureForm, type SignatureForm } from './signature-form.ts';
import { issuerSerialOf } from './signature-text.ts';
import { SignatureFinder } from './signature-tree.ts';

/** Room for the signature in a file that had the greatest length when it was signed: a long chain in UTF-16. */
const MAX_SIGNATURE_LENGTH = 2 ** 20;

/** What may be asked of a signed document besides being intact. */
export type VerifyXmlOptions = Pick<VerifyFileRequest, 'signer' | 'content' | 'anchors' | 'at'>;

/**
 * Verifies the newest enveloped signature of one file. A bad document is a failed check, not an exception.
 * @throws CryptoError `input.unreadable`, `input.changed`, `input.empty`, `input.too-large`.
 */
export function verifyXades(request: VerifyFileRequest): VerificationReport {
  const source = openSource(request.path);
  try {
    const document = readDocument(source, MAX_DOCUMENT_LENGTH + MAX_SIGNATURE_LENGTH);
    const report = verifyXml(document, request);
    source.assertUnchanged();
    return report;
  } finally {
    source.close();
  }
}

/**
 * Verifies the last signature among the children of the root; it must cover the whole document.
 *
 * Checks: structure, algorithms, unique-ids, document-digest, properties-digest, signature-value,
 * signing-certificate, certificate-validity, key-usage, and when asked for signer, chain, content.
 * Other signatures in the document are counted but not judged: they cover single elements, and their own.
 */
export function verifyXml(document: Buffer, options: VerifyXmlOptions): VerificationReport {
  const found = findSignature(document);
  if (!('form' in found)) {
    const structure = { name: 'structure', ok: false, detail: found.fault };
    return { ok: false, signatures: found.signatures, checks: [structure] };
  }
  const { decoded, form, root, signatures } = found;
  const checks: Check[] = [
    { name: 'structure', ok: true, detail: `Enveloped signature, claimed time ${form.signingTime}.` },
    ...checkSignature(decoded.utf8, form, options),
  ];
  if (options.content !== undefined)
    checks.push(checkContent(document, decoded, root, form, options.content));
  return { ok: checks.every(({ ok }) => ok), signatures, checks };
}

interface Found {
  readonly signatures: number;
  readonly decoded: DecodedXml;
  readonly root: RootPlace;
  readonly form: SignatureForm;
}

function findSignature(document: Buffer): Found | { readonly signatures: number; readonly fault: string } {
  let signatures = 0;
  try {
    const decoded = decodeXml(document);
    const finder = new SignatureFinder(decoded.utf8);
    const root = readXml(decoded.utf8, finder);
    signatures = finder.signatures;
    if (finder.newest === undefined)
      throw new FormFault('the root element has no signature among its children');
    if (finder.fault !== undefined) throw new FormFault(finder.fault);
    return { signatures, decoded, root, form: readSignatureForm(finder.newest) };
  } catch (error) {
    if (error instanceof FormFault) {
      return { signatures, fault: `The signature is not of the accepted form: ${error.message}.` };
    }
    if (error instanceof CryptoError) return { signatures, fault: `${error.code}: ${error.message}` };
    throw error;
  }
}

function checkSignature(utf8: Buffer, form: SignatureForm, options: VerifyXmlOptions): Check[] {
  const method = signatureMethodOf(form.signatureMethod);
  const document = digestOf(form.document.method);
  const properties = digestOf(form.properties.method);
  const certificateDigest = digestOf(form.certificateDigest.method);
  if (
    method === undefined ||
    document === undefined ||
    properties === undefined ||
    certificateDigest === undefined
  ) {
    return [
      {
        name: 'algorithms',
        ok: false,
        detail: `One of these is not accepted: ${form.signatureMethod}, ${form.document.method}, ${form.properties.method}, ${form.certificateDigest.method}.`,
      },
    ];
  }
  const digests = digestReferences(utf8, form, { document, properties });
  const checks: Check[] = [
    {
      name: 'algorithms',
      ok: true,
      detail: `${method.keyType} with ${method.digest}, content with ${document}.`,
    },
    checkIds(digests.occurrences),
    checkDigest('document-digest', 'The document', form.document.value, digests.document),
    checkDigest('properties-digest', 'SignedProperties', form.properties.value, digests.properties),
  ];
  const named = signingCertificate(form, certificateDigest) ?? form.certificates[0];
  const [certificate] = named === undefined ? [] : readableCertificates(named);
  if (certificate === undefined) {
    return [...checks, { name: 'signing-certificate', ok: false, detail: "The certificate can't be read." }];
  }
  checks.push(
    checkSigningCertificate(form, certificate, certificateDigest),
    checkValue(form, method, certificate, digests.signedInfo),
    checkValidity(certificate, options.at),
    checkKeyUsage(certificate),
  );
  if (options.signer !== undefined) checks.push(checkSigner(certificate, options.signer));
  if (options.anchors !== undefined) {
    checks.push(checkChain(certificate, form.certificates, options.anchors, options.at));
  }
  return checks;
}

function checkIds(occurrences: ReadonlyMap<string, number>): Check {
  const repeated = [...occurrences].find(([, count]) => count !== 1);
  return {
    name: 'unique-ids',
    ok: repeated === undefined,
    detail:
      repeated === undefined
        ? 'Each identifier the signature relies on names one element.'
        : `The identifier "${repeated[0]}" names ${repeated[1]} elements.`,
  };
}

function checkDigest(name: string, what: string, signed: Buffer, actual: Buffer): Check {
  const ok = signed.equals(actual);
  return {
    name,
    ok,
    detail: ok ? `${what} has the signed digest.` : `${what} has another digest than was signed.`,
  };
}

/** The certificate in KeyInfo that SigningCertificateV2 names. */
function signingCertificate(form: SignatureForm, digest: DigestName): Buffer | undefined {
  return form.certificates.find((der) =>
    createHash(digest).update(der).digest().equals(form.certificateDigest.value),
  );
}

function checkSigningCertificate(form: SignatureForm, certificate: Certificate, digest: DigestName): Check {
  const name = 'signing-certificate';
  if (signingCertificate(form, digest) === undefined) {
    return { name, ok: false, detail: 'SigningCertificateV2 names a certificate that is not in KeyInfo.' };
  }
  const same = form.issuerSerial === undefined || form.issuerSerial.equals(issuerSerialOf(certificate.der));
  return {
    name,
    ok: same,
    detail: same
      ? 'SigningCertificateV2 names the certificate.'
      : 'Issuer and serial in SigningCertificateV2 are those of another certificate.',
  };
}

/** RSA keys below this many bits can be factored with effort; their signatures prove nothing for long. */
const MIN_MODULUS = 2048;

function checkValue(
  form: SignatureForm,
  { keyType, scheme, digest }: SignatureAlgorithm & { readonly keyType: KeyType },
  { publicKey }: Certificate,
  signedInfo: Buffer,
): Check {
  const name = 'signature-value';
  if (publicKey.asymmetricKeyType !== keyType) {
    return { name, ok: false, detail: `The certificate's key is not of the kind ${keyType}.` };
  }
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? MIN_MODULUS;
  if (bits < MIN_MODULUS) return { name, ok: false, detail: `An RSA key of ${bits} bits is too short.` };
  const ok = verify(
    scheme === 'ed25519' ? null : digest,
    signedInfo,
    {
      key: publicKey,
      dsaEncoding: 'ieee-p1363',
      ...(scheme === 'rsa-pss' && {
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      }),
    },
    form.signatureValue,
  );
  return {
    name,
    ok,
    detail: ok ? 'The key of the certificate made it.' : 'The key of the certificate did not make it.',
  };
}

/** Check `content`: taking the signature out gives back the bytes that were to be signed. */
function checkContent(
  document: Buffer,
  decoded: DecodedXml,
  root: RootPlace,
  form: SignatureForm,
  expected: { readonly sha256: string; readonly length: number },
): Check {
  const start = decoded.toOriginal(form.start);
  const end = decoded.toOriginal(form.end);
  const found =
    digestsTo(expected, [document.subarray(0, start), document.subarray(end)]) ||
    // A root that was an empty-element tag was opened: `/>` became `>`, and an end tag came after the signature.
    (root.contentStart === form.start &&
      root.contentEnd === form.end &&
      digestsTo(expected, [
        document.subarray(0, decoded.toOriginal(root.contentStart - 1)),
        decoded.encode('/>'),
        document.subarray(decoded.toOriginal(root.end)),
      ]));
  return {
    name: 'content',
    ok: found,
    detail: found
      ? 'Without the signature, the file is what was to be signed.'
      : 'Without the signature, the file is not what was to be signed.',
  };
}

function digestsTo(
  expected: { readonly sha256: string; readonly length: number },
  parts: readonly Buffer[],
): boolean {
  if (parts.reduce((length, part) => length + part.length, 0) !== expected.length) return false;
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex') === expected.sha256;
}
