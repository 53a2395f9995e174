/** SignaturePolicyIdentifier, which makes a signature an EPES one (EN 319 132-1 §5.2.9). */
import { CryptoError, type SignaturePolicy } from '../../core/types.ts';
import { DIGEST_URI } from './identifiers.ts';
import { uriText } from './uri-text.ts';

/**
 * Builds the element for SignedProperties.
 *
 * SignaturePolicyIdentifier = SignaturePolicyId | SignaturePolicyImplied
 * SignaturePolicyId = SigPolicyId { Identifier }, ds:Transforms?, SigPolicyHash, SigPolicyQualifiers { SPURI … }?
 *
 * @param ds declaration to write on the elements of XML Signature
 * @throws {CryptoError} `request.invalid` for an identifier that is not a dotted OID, or a location that is not a URI
 */
export function policyText({ oid, digest, hash, uri }: SignaturePolicy, ds: string): string {
  if (!/^[0-2](\.\d+)+$/.test(oid)) {
    throw new CryptoError('request.invalid', `The policy identifier "${oid}" is not dotted numbers.`);
  }
  const qualifiers =
    uri === undefined
      ? ''
      : '<xades:SigPolicyQualifiers><xades:SigPolicyQualifier>' +
        `<xades:SPURI>${uriText(uri, "the policy's location")}</xades:SPURI>` +
        '</xades:SigPolicyQualifier></xades:SigPolicyQualifiers>';
  return (
    '<xades:SignaturePolicyIdentifier><xades:SignaturePolicyId><xades:SigPolicyId>' +
    `<xades:Identifier Qualifier="OIDAsURN">urn:oid:${oid}</xades:Identifier></xades:SigPolicyId>` +
    `<xades:SigPolicyHash><ds:DigestMethod${ds} Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
    `<ds:DigestValue${ds}>${hash.toString('base64')}</ds:DigestValue></xades:SigPolicyHash>` +
    `${qualifiers}</xades:SignaturePolicyId></xades:SignaturePolicyIdentifier>`
  );
}
