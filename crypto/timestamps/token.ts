/** TimeStampToken (RFC 3161 §2.4.2), read but not judged. */

import type { Certificate } from '../certificates/certificate.ts';
import type { SignedData } from '../cms/parse.ts';

export interface TimestampToken {
  readonly der: Buffer;
  readonly signedData: SignedData;
  /** DER of TSTInfo, which is what the token's signature is over. */
  readonly info: Buffer;
  /** Milliseconds since the epoch. */
  readonly genTime: number;
  readonly imprint: Buffer;
  /** Lower-case name (`sha256`, also `sha1`) or the dotted identifier of an unknown one. */
  readonly imprintAlgorithm: string;
  /** Dotted. */
  readonly policy: string;
  /** DER of the INTEGER. */
  readonly serial: Buffer;
  /** DER of the INTEGER; undefined when there is none. */
  readonly nonce: Buffer | undefined;
  /** Signer's certificate as far as it is inside. */
  readonly certificate: Certificate | undefined;
  readonly certificates: readonly Certificate[];
}
