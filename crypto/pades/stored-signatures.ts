/** Reads the signatures of a PDF for augmentation: certificates that need evidence, and existing time-stamps. */

import { OID } from '../asn1/oids.ts';
import { Asn1Error, encoded } from '../asn1/read.ts';
import { parseSignedData } from '../cms/parse.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import { CryptoError } from '../core/types.ts';
import { readTimestampToken } from '../evidence/timestamp-reader.ts';
import { type ByteSource, withPdf } from '../pdf/index.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { type FoundSignature, findSignatures } from './fields/signatures.ts';
import { readStore, type SecurityStore, signatureKey } from './security-store.ts';
import { isTimestamp } from './signature-report.ts';

export interface StoredSignature {
  readonly field: string;
  /** True for a document time-stamp. */
  readonly isTimestamp: boolean;
  /** As in `signatureKey`. */
  readonly key: string;
  /** Certificates of signers and of the signers of their signature-time-stamps. */
  readonly ends: readonly Certificate[];
  /** DER of all certificates inside. */
  readonly certificates: readonly Buffer[];
  /** True with a signature-time-stamp, or with a later document time-stamp. */
  readonly isStamped: boolean;
}

export interface StoredSignatures {
  /** In the order of the revisions. */
  readonly signatures: readonly StoredSignature[];
  readonly store: SecurityStore;
}

/** Most signatures augmented; each costs reading all its certificates. */
const MAX_SIGNATURES = 500;

/**
 * @param isMeant selects signatures by field name
 * @throws {CryptoError} `pdf.*`; `cms.malformed` for a selected signature that can't be read
 */
export function readStoredSignatures(
  source: ByteSource,
  isMeant: (field: string) => boolean = () => true,
): StoredSignatures {
  return withPdf(source, (pdf) => {
    const found = findSignatures(pdf, MAX_SIGNATURES).filter(({ field }) => isMeant(field));
    const lastTimestamp = found.findLastIndex(isTimestamp);
    return {
      signatures: found.map((one, index) => readOne(one, index < lastTimestamp)),
      store: readStore(pdf),
    };
  });
}

/** Reads only the newest signatures; earlier ones are not parsed. @throws {CryptoError} as above */
export function newestSignatures(source: ByteSource, count: number): readonly StoredSignature[] {
  return withPdf(source, (pdf) =>
    findSignatures(pdf, MAX_SIGNATURES)
      .slice(-count)
      .map((one) => readOne(one, false)),
  );
}

function readOne(found: FoundSignature, isCovered: boolean): StoredSignature {
  const { field, coverage, cms } = found;
  if (coverage === undefined || cms === undefined) {
    throw malformed(field, found.coverageFault ?? found.contentsFault ?? 'It has no value.');
  }
  try {
    const { ends, certificates, isStamped } = isTimestamp(found) ? ofToken(cms) : ofSignature(cms);
    return {
      field,
      isTimestamp: isTimestamp(found),
      key: signatureKey(cms, (coverage.placeholderEnd - coverage.placeholderStart - 2) / 2),
      ends,
      certificates,
      isStamped: isStamped || isCovered,
    };
  } catch (error) {
    if (!(error instanceof Asn1Error) && !(error instanceof CryptoError)) throw error;
    throw malformed(field, error.message);
  }
}

type SignatureContents = Pick<StoredSignature, 'ends' | 'certificates' | 'isStamped'>;

function ofToken(der: Buffer): SignatureContents {
  const { certificate, certificates } = readTimestampToken(der);
  return {
    ends: certificate === undefined ? [] : [certificate],
    certificates: certificates.map((one) => one.der),
    isStamped: false,
  };
}

function ofSignature(der: Buffer): SignatureContents {
  const data = parseSignedData(der);
  const own = data.certificates.flatMap(readableCertificates);
  const signers = data.signers.flatMap((signer) => signerCertificate(signer, own) ?? []);
  const tokens = data.signers
    .flatMap(({ unsignedAttributes }) => unsignedAttributes?.values.get(OID.signatureTimestamp) ?? [])
    .map((value) => ofToken(encoded(value)));
  return {
    ends: [...signers, ...tokens.flatMap(({ ends }) => ends)],
    certificates: [...data.certificates, ...tokens.flatMap(({ certificates }) => certificates)],
    isStamped: tokens.length > 0,
  };
}

function malformed(field: string, what: string): CryptoError {
  return new CryptoError('cms.malformed', `The signature in field ${field} can't be augmented: ${what}`);
}
