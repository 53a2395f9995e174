/** The signature value over signed attributes (RFC 5652 §5.4). */
import { TAG } from '../asn1/tags.ts';
import { setOf, tlv } from '../asn1/write.ts';
import type { Certificate } from '../certificates/certificate.ts';
import type { HashName } from './hashes.ts';
import type { Attributes, SignerInfo } from './parse.ts';
import { faultOf } from './signature-value.ts';

/**
 * Undefined when the key of the certificate made the signature over the attributes; otherwise why not.
 * What is signed is the DER of a SET OF. Some signers leave it unsorted and sign that; both forms are tried.
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
