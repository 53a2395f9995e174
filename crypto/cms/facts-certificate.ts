/** Which certificate a SignerInfo names, and whether the signed attributes name the same one (RFC 5035, EN 319 122-1 §5.2.2). */
import { OID } from '../asn1/oids.ts';
import type { Element } from '../asn1/read.ts';
import type { Certificate } from '../certificates/certificate.ts';
import type { AlgorithmUse, Finding } from '../validation/facts.ts';
import type { SignerInfo } from './parse.ts';
import { certIdFault, certIdHash, certificateNamed } from './signing-certificate.ts';

export interface BoundCertificate {
  readonly certificate: Certificate | undefined;
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
  /** True when a signed attribute names the certificate. */
  readonly bound: boolean;
}

interface CertificateReference {
  /** Of signing-certificate-v2, or of signing-certificate when the digest is fixed. */
  readonly value: Element;
  readonly fixed: 'sha1' | undefined;
}

/**
 * The signer's certificate among those at hand. When several answer to the name in the SignerInfo, which is not signed,
 * the one that the signed attribute names is taken.
 * @param needed whether a missing attribute fails, or is a warning (signatures older than CAdES)
 * @throws {Asn1Error} for a malformed attribute
 */
export function bindCertificate(
  signer: SignerInfo,
  certificates: readonly Certificate[],
  needed: boolean,
): BoundCertificate {
  const named = certificates.filter((one) => certificateNamed(signer.id, [one]) !== undefined);
  const reference = referenceIn(signer);
  const certificate =
    (reference && named.find((one) => mismatchOf(reference, one) === undefined)) ?? named[0];
  const found = foundFinding(certificate);
  if (reference === undefined) {
    const missing = missingReference(needed);
    return { certificate, findings: [found, missing], algorithms: [], bound: false };
  }
  const mismatch = certificate === undefined ? undefined : mismatchOf(reference, certificate);
  const findings = certificate === undefined ? [found] : [found, bindingFinding(mismatch)];
  const hash = certIdHash(reference.value, reference.fixed);
  const algorithms =
    hash === undefined ? [] : [{ name: hash, where: 'digest of the signing certificate', preimage: true }];
  return { certificate, findings, algorithms, bound: certificate !== undefined && mismatch === undefined };
}

function foundFinding(certificate: Certificate | undefined): Finding {
  if (certificate === undefined) {
    return {
      status: 'failed',
      type: 'certificate.signer',
      message: "The signer's certificate is not at hand.",
      subIndication: 'NO_SIGNING_CERTIFICATE_FOUND',
    };
  }
  return {
    status: 'passed',
    type: 'certificate.signer',
    message: "The signer's certificate was found.",
    detail: certificate.fingerprint,
  };
}

function missingReference(needed: boolean): Finding {
  return {
    status: needed ? 'failed' : 'warning',
    type: 'certificate.binding',
    message:
      'No signed attribute names the certificate, so another one of the same key could take its place.',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
  };
}

function bindingFinding(mismatch: string | undefined): Finding {
  if (mismatch === undefined) {
    return {
      status: 'passed',
      type: 'certificate.binding',
      message: 'A signed attribute names the certificate.',
    };
  }
  return {
    status: 'failed',
    type: 'certificate.binding',
    message: mismatch,
    subIndication: 'NO_SIGNING_CERTIFICATE_FOUND',
  };
}

/** The newer attribute decides when both are there; uniqueness is checked with the other attributes. */
function referenceIn({ attributes }: SignerInfo): CertificateReference | undefined {
  const [second] = attributes?.values.get(OID.signingCertificateV2) ?? [];
  if (second !== undefined) return { value: second, fixed: undefined };
  const [first] = attributes?.values.get(OID.signingCertificate) ?? [];
  return first === undefined ? undefined : { value: first, fixed: 'sha1' };
}

function mismatchOf({ value, fixed }: CertificateReference, certificate: Certificate): string | undefined {
  return certIdFault(value, certificate, fixed);
}
