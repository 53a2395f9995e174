/**
 * Checks that the certificate of a SignerInfo is the one that the signed attributes name (RFC 5035, EN 319 122-1
 * §5.2.2).
 */

import type { AlgorithmUse, Finding } from '../core/finding.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { SignerInfo } from './parse.ts';
import {
  type CertificateReference,
  certIdError,
  certIdHash,
  certificateReference,
  olderReference,
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
 * Selects the signer's certificate and reports how the signed attributes refer to it.
 * @param needed true: a missing attribute is a failure; false: a warning (signatures older than CAdES)
 * @throws {Asn1Error} for a malformed attribute
 */
export function bindCertificate(
  signer: SignerInfo,
  certificates: readonly Certificate[],
  needed: boolean,
): BoundCertificate {
  const reference = certificateReference(signer);
  const certificate = signerCertificate(signer, certificates);
  const found = certificateFinding(certificate);
  if (reference === undefined) {
    const missing = missingReference(needed);
    return { certificate, findings: [found, missing], algorithms: [], bound: false };
  }
  const older = olderReference(signer);
  const mismatch =
    certificate === undefined
      ? undefined
      : (mismatchOf(reference, certificate) ?? (older && mismatchOf(older, certificate)));
  const findings = certificate === undefined ? [found] : [found, bindingFinding(mismatch)];
  const hash = certIdHash(reference.value, reference.fixed);
  const algorithms =
    hash === undefined ? [] : [{ name: hash, where: 'digest of the signing certificate', preimage: true }];
  return { certificate, findings, algorithms, bound: certificate !== undefined && mismatch === undefined };
}

function certificateFinding(certificate: Certificate | undefined): Finding {
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
  return certIdError(value, certificate, fixed);
}
