/** Checks of a time-stamp that need neither trust nor time: message imprint, signer, and signature value. */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import { Asn1Error, octets, oidText } from '../asn1/read.ts';
import { attributesFault, singleValue } from '../cms/attribute-checks.ts';
import type { Attributes } from '../cms/parse.ts';
import { certIdError, outsideCertificate } from '../cms/signing-certificate.ts';
import { type Finding, failed, passed, type SubIndication } from '../core/validation-report.ts';
import { algorithmName } from '../x509/algorithm-names.ts';
import type { Certificate } from '../x509/certificate.ts';
import { HASH_BY_OID, type HashName, hashNamed } from '../x509/signature-algorithms.ts';
import type { SignatureFault } from '../x509/signature-values.ts';
import { type ImprintSource, TIMESTAMP_INFO, type TimestampToken } from './timestamp-reader.ts';

const TIMESTAMPING = '1.3.6.1.5.5.7.3.8';

/**
 * Checks one token; findings in order of detection; never throws for invalid bytes.
 *
 * | type                            | failed means            |
 * |---------------------------------|-------------------------|
 * | `timestamp.imprint`             | HASH_FAILURE            |
 * | `timestamp.certificate`         | NO_SIGNING_CERTIFICATE_FOUND |
 * | `timestamp.content-type`        | FORMAT_FAILURE          |
 * | `timestamp.digest`              | HASH_FAILURE            |
 * | `timestamp.signing-certificate` | SIG_CONSTRAINTS_FAILURE |
 * | `timestamp.value`               | SIG_CRYPTO_FAILURE      |
 * | `timestamp.purpose`             | CHAIN_CONSTRAINTS_FAILURE |
 *
 * The path, revocation and validity of the signer are judged elsewhere.
 * @param covered digest of the bytes the token must cover
 * @param others candidates for the signer's certificate when the token lacks it
 */
export function checkToken(
  token: TimestampToken,
  covered: ImprintSource,
  others: readonly Certificate[] = [],
): Finding[] {
  const findings = [checkImprint(token, covered)];
  const certificate = timestampSigner(token, others);
  findings.push(
    certificate === undefined
      ? failed(
          'timestamp.certificate',
          "The certificate of the time-stamp's signer is not at hand.",
          'NO_SIGNING_CERTIFICATE_FOUND',
        )
      : passed('timestamp.certificate', "The certificate of the time-stamp's signer was found."),
  );
  try {
    checkSignature(token, certificate, findings);
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    findings.push(failed('timestamp.value', `The time-stamp can't be read: ${error.message}.`));
  }
  return findings;
}

/** Finds the certificate that signed a token, in the token or in others. */
export function timestampSigner(
  token: TimestampToken,
  others: readonly Certificate[],
): Certificate | undefined {
  const [signer] = token.signedData.signers;
  if (token.certificate !== undefined || signer === undefined) return token.certificate;
  try {
    // RFC 3161 §2.4.2: the attribute that names the certificate is required.
    return outsideCertificate(signer, others, () => false);
  } catch (error) {
    // The attribute can't be read.
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}

function checkImprint({ imprint, imprintAlgorithm }: TimestampToken, covered: ImprintSource): Finding {
  const actual = covered(imprintAlgorithm);
  if (actual === undefined && hashNamed(imprintAlgorithm) !== undefined) {
    return failed('timestamp.imprint', 'What the time-stamp covers is not at hand.', 'SIGNED_DATA_NOT_FOUND');
  }
  if (actual === undefined) {
    const message = `The imprint uses the hash function ${algorithmName(imprintAlgorithm)}, which is not supported.`;
    return failed('timestamp.imprint', message, 'CRYPTO_CONSTRAINTS_FAILURE');
  }
  return actual.equals(imprint)
    ? passed('timestamp.imprint', `The time-stamp covers these bytes (${imprintAlgorithm}).`)
    : failed('timestamp.imprint', 'The time-stamp is over other bytes.', 'HASH_FAILURE');
}

function checkSignature(
  token: TimestampToken,
  certificate: Certificate | undefined,
  findings: Finding[],
): void {
  const [signer] = token.signedData.signers;
  const attributes = signer?.attributes;
  const digest = signer === undefined ? undefined : HASH_BY_OID.get(signer.digestAlgorithm);
  if (signer === undefined || attributes === undefined) {
    // RFC 5652 §5.3: content other than id-data requires signed attributes.
    findings.push(failed('timestamp.content-type', 'The time-stamp has no signed attributes.'));
    return;
  }
  findings.push(checkContentType(attributes));
  if (digest === undefined) {
    const message = `The digest algorithm ${algorithmName(signer.digestAlgorithm)} is not supported.`;
    findings.push(failed('timestamp.digest', message, 'CRYPTO_CONSTRAINTS_FAILURE'));
    return;
  }
  findings.push(checkDigest(token.info, attributes, digest));
  if (certificate === undefined) return;
  findings.push(checkBinding(attributes, certificate));
  findings.push(valueFinding(attributesFault(signer, attributes, digest, certificate)));
  findings.push(checkPurpose(certificate));
}

function valueFinding(fault: SignatureFault | undefined): Finding {
  const type = 'timestamp.value';
  if (fault === undefined) return passed(type, "The key of the authority's certificate made the time-stamp.");
  const start =
    fault.kind === 'unsupported' ? 'The time-stamp was not checked' : 'The value of the time-stamp is wrong';
  return failed(type, `${start}: ${fault.reason}.`, VALUE_FAULTS[fault.kind]);
}

const VALUE_FAULTS: { readonly [kind in SignatureFault['kind']]: SubIndication } = {
  unsupported: 'CRYPTO_CONSTRAINTS_FAILURE',
  digests: 'SIG_CONSTRAINTS_FAILURE',
  contradiction: 'SIG_CRYPTO_FAILURE',
  value: 'SIG_CRYPTO_FAILURE',
};

function checkContentType(attributes: Attributes): Finding {
  const value = singleValue(attributes, OID.contentType);
  return value !== undefined && oidText(value) === TIMESTAMP_INFO
    ? passed('timestamp.content-type', 'The signed content is a TSTInfo.')
    : failed('timestamp.content-type', 'The signed content type is not that of a time-stamp.');
}

function checkDigest(info: Buffer, attributes: Attributes, digest: HashName): Finding {
  const value = singleValue(attributes, OID.messageDigest);
  const ok = value !== undefined && octets(value).equals(createHash(digest).update(info).digest());
  return ok
    ? passed('timestamp.digest', `The content has the signed ${digest} digest.`)
    : failed('timestamp.digest', `The content has another ${digest} digest.`, 'HASH_FAILURE');
}

/**
 * Checks the signing-certificate attribute: RFC 3161 §2.4.2 requires the form with SHA-1, RFC 5816 allows the second.
 */
function checkBinding(attributes: Attributes, certificate: Certificate): Finding {
  const newer = singleValue(attributes, OID.signingCertificateV2);
  const older = singleValue(attributes, OID.signingCertificate);
  const faults = [
    newer === undefined ? undefined : certIdError(newer, certificate),
    older === undefined ? undefined : certIdError(older, certificate, 'sha1'),
  ];
  const fault =
    newer === undefined && older === undefined
      ? 'No attribute names the certificate of the signer.'
      : faults.find((found) => found !== undefined);
  return fault === undefined
    ? passed('timestamp.signing-certificate', 'The time-stamp names the certificate of its signer.')
    : failed('timestamp.signing-certificate', fault, 'SIG_CONSTRAINTS_FAILURE');
}

/** Checks the purpose: only time-stamping, and critical (RFC 3161 §2.3). */
function checkPurpose({ extendedKeyUsage, extendedKeyUsageCritical }: Certificate): Finding {
  const alone = extendedKeyUsage?.length === 1 && extendedKeyUsage[0] === TIMESTAMPING;
  if (alone && extendedKeyUsageCritical) {
    return passed('timestamp.purpose', 'The certificate is for making time-stamps.');
  }
  const message = alone
    ? 'The certificate says that it is for time-stamps, but not critically.'
    : 'The certificate is not for making time-stamps alone.';
  return failed('timestamp.purpose', message, 'CHAIN_CONSTRAINTS_FAILURE');
}
