/** Whose certificates have to stay checkable for a signature to stay so: signers and the makers of time-stamps. */
import { OID } from '../asn1/oids.ts';
import { type Element, encoded } from '../asn1/read.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { parseSignerInfo, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import { readTimestampToken } from '../timestamps/read.ts';
import { CryptoError } from '../types.ts';

/** DER of certificates, each once. */
export interface CertificatesToProve {
  readonly ends: readonly Buffer[];
  /** Certificates that may stand on the chains of `ends`. */
  readonly others: readonly Buffer[];
  /** Of the newest time-stamp, milliseconds since the epoch; 0 without one. */
  readonly newest: number;
}

/**
 * Signers and counter-signers, and whoever made their time-stamps; of an archived signature only the makers of the newest
 * archive time-stamp, which proves the rest, and of time-stamps that came after it.
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
    // An archive time-stamp covers the evidence for all before it, some of whom may have expired since.
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

/** Milliseconds since the epoch; 0 for none. */
function timeOf(value: Element | undefined): number {
  return value === undefined ? 0 : readTimestampToken(encoded(value)).genTime;
}

function timestampsIn({ attributes, unsignedAttributes }: SignerInfo): Element[] {
  return [
    ...(attributes?.values.get(OID.contentTimestamp) ?? []),
    ...(unsignedAttributes?.values.get(OID.signatureTimestamp) ?? []),
  ];
}
