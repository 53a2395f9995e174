/** TimeStampToken (RFC 3161 §2.4.2), parsed but not validated. */

import type { SignedData } from '../cms/parse.ts';
import type { Certificate } from '../x509/certificate.ts';

export interface TimestampToken {
  readonly der: Buffer;
  readonly signedData: SignedData;
  /** DER of TSTInfo, which the token's signature covers. */
  readonly info: Buffer;
  /** Milliseconds since the epoch. */
  readonly genTime: number;
  readonly imprint: Buffer;
  /** Lower-case name (`sha256`, also `sha1`), or the dotted OID of an unknown algorithm. */
  readonly imprintAlgorithm: string;
  /** Dotted OID. */
  readonly policy: string;
  /** DER of the INTEGER. */
  readonly serial: Buffer;
  /** DER of the INTEGER; undefined when there is none. */
  readonly nonce: Buffer | undefined;
  /** Signer's certificate if the token contains it. */
  readonly certificate: Certificate | undefined;
  readonly certificates: readonly Certificate[];
}
