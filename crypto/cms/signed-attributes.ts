/** The signature value over signed attributes (RFC 5652 §5.4). */

import type { HashName } from '../algorithms/hashes.ts';
import { faultOf } from '../algorithms/signature-value.ts';
import { TAG } from '../asn1/tags.ts';
import { setOf, tlv } from '../asn1/write.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { Attributes, SignerInfo } from './parse.ts';

/**
 * Checks the signature value over the signed attributes; returns undefined when it is right, otherwise the reason.
 * The signature covers the DER of a SET OF. Some signers leave the set unsorted and sign that; both forms are tried.
 * @throws {Asn1Error} for malformed parameters of the algorithm
 */
export function attributesFault(
  signer: SignerInfo,
  attributes: Attributes,
  digest: HashName,
  certificate: Certificate,
): string | undefined {
  const signature = {
    algorithm: signer.signatureAlgorithm,
    digest,
    value: signer.signature,
    key: certificate.publicKey,
  };
  const asFound = tlv(TAG.set, ...attributes.encodings);
  const fault = faultOf(signature, asFound);
  if (fault === undefined) return undefined;
  const sorted = setOf(attributes.encodings);
  return sorted.equals(asFound) ? fault : faultOf(signature, sorted);
}
