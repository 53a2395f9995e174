/** Selects the certificates that need evidence for long-term validation: of signers and of time-stamp authorities. */
import { OID } from '../asn1/oids.ts';
import { type Element, encoded } from '../asn1/read.ts';
import { parseSignerInfo, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import { CryptoError } from '../core/types.ts';
import { readTimestampToken } from '../evidence/timestamp-reader.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';

/** DER of certificates, each once. */
export interface CertificatesToProve {
  readonly ends: readonly Buffer[];
  /** Certificates that may be on the paths of `ends`. */
  readonly others: readonly Buffer[];
  /** Time of the newest time-stamp, milliseconds since the epoch; 0 without one. */
  readonly newest: number;
}

/**
 * Returns signers, counter-signers and the signers of their time-stamps. For an archived signature: only the signers
 * of the newest archive time-stamp, which proves the rest, and of later time-stamps.
 * @throws {Asn1Error} for a counter-signature that can't be read
 * @throws {CryptoError} `cms.malformed` when a certificate is not inside; `timestamp.malformed`
 */
export function certificatesToProve(data: SignedData, signers: readonly SignerInfo[]): CertificatesToProve {
  const known = data.certificates.flatMap(readableCertificates);
  const ends = new Map<string, Certificate>();
  const others = new Map(known.map((certificate) => [certificate.fingerprint, certificate]));
  let newest = 0;
  const take = (signer: SignerInfo, among: readonly Certificate[], whose: string) => {
    const certificate = signerCertificate(signer, among);
    if (certificate === undefined) {
      throw new CryptoError('cms.malformed', `The certificate of ${whose} is not in the signature.`);
    }
    ends.set(certificate.fingerprint, certificate);
  };
  const visit = (signer: SignerInfo) => {
    const archives = signer.unsignedAttributes?.values.get(OID.archiveTimestampV3) ?? [];
    // An archive time-stamp covers the evidence of earlier certificates, some of which may have expired since.
    if (archives.length === 0) take(signer, known, 'a signer');
    const archived = timeOf(archives.at(-1));
    const stamps = timestampsIn(signer).filter((value) => archives.length === 0 || timeOf(value) > archived);
    for (const value of [...stamps, ...archives.slice(-1)]) {
      const token = readTimestampToken(encoded(value));
      newest = Math.max(newest, token.genTime);
      for (const certificate of token.certificates) others.set(certificate.fingerprint, certificate);
      for (const maker of token.signedData.signers)
        take(maker, [...token.certificates, ...known], 'a time-stamp');
    }
  };
  for (const signer of signers) {
    visit(signer);
    for (const value of signer.unsignedAttributes?.values.get(OID.counterSignature) ?? []) {
      visit(parseSignerInfo(value));
    }
  }
  const der = (certificates: Iterable<Certificate>) =>
    [...certificates].map((certificate) => certificate.der);
  return { ends: der(ends.values()), others: der(others.values()), newest };
}

/** Returns milliseconds since the epoch; 0 for none. */
function timeOf(value: Element | undefined): number {
  return value === undefined ? 0 : readTimestampToken(encoded(value)).genTime;
}

function timestampsIn({ attributes, unsignedAttributes }: SignerInfo): Element[] {
  return [
    ...(attributes?.values.get(OID.contentTimestamp) ?? []),
    ...(unsignedAttributes?.values.get(OID.signatureTimestamp) ?? []),
  ];
}
