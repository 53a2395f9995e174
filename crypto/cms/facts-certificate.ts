/** Which certificate a SignerInfo names, and whether the signed attributes name the same one (RFC 5035, EN 319 122-1 §5.2.2). */
import type { Certificate } from '../certificates/certificate.ts';
import type { AlgorithmUse, Finding } from '../validation/facts.ts';
import type { SignerInfo } from './parse.ts';
import {
  type CertificateReference,
  certIdFault,
  certIdHash,
  certificateReference,
  signerCertificate,
} from './signing-certificate.ts';

export interface BoundCertificate {
  readonly certificate: Certificate | undefined;
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
  /** True when a signed attribute names the certificate. */
  readonly bound: boolean;
}

/**
 * The signer's certificate among those at hand, and how firmly it is named.
 * @param needed whether a missing attribute fails, or is a warning (signatures older than CAdES)
 * @throws {Asn1Error} for a malformed attribute
 */
export function bindCertificate(
  signer: SignerInfo,
  certificates: readonly Certificate[],
  needed: boolean,
): BoundCertificate {
  const reference = certificateReference(signer);
  const certificate = signerCertificate(signer, certificates);
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

function mismatchOf({ value, fixed }: CertificateReference, certificate: Certificate): string | undefined {
  return certIdFault(value, certificate, fixed);
}
