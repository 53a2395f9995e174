/** Results of the second implementation, as plain data. */

/** Format of a signed file, as the signature engine names it. */
export type IndependentFormat = 'Pades' | 'Cades' | 'Xades' | 'Asic';

export interface IndependentRequest {
  readonly format: IndependentFormat;
  /** The signed file; for a detached CMS signature, the signature. */
  readonly bytes: Buffer;
  /** Content of a detached CMS signature. */
  readonly content?: Buffer;
  /** Time of validation, milliseconds since the epoch; certificate chains are not checked. */
  readonly at: number;
}

/** `valid`: digests and signature value hold. `not-comparable`: the library lacks an algorithm, transform or form. */
type IndependentVerdict = 'valid' | 'invalid' | 'not-comparable';

/** Result for one signature or time-stamp token. */
export interface IndependentSignature {
  readonly kind: 'signature' | 'signature-timestamp' | 'document-timestamp';
  readonly verdict: IndependentVerdict;
  /** Sentence for people: the failure, or the reason for no result; empty when valid. */
  readonly reason: string;
  /** Lower-case hex SHA-256 of the signer's certificate; undefined when the library did not reach it. */
  readonly signer?: string;
  /** Base64 of the signature value: the identity of the signature within a file. */
  readonly value?: string;
}

export interface IndependentReport {
  /** Name and version of the library. */
  readonly library: string;
  readonly signatures: readonly IndependentSignature[];
}

/** Builds the result for a signature that can't be verified, with the reason. */
export function notComparable(
  reason: string,
  kind: IndependentSignature['kind'] = 'signature',
): IndependentSignature {
  return { kind, verdict: 'not-comparable', reason };
}
