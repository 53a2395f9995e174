/**
 * Reasons for TOTAL-FAILED, closed: a check that fails for a reason which is not listed here leaves its signature
 * INDETERMINATE. `computed`: a value was computed and is another one. Otherwise the clause that forbids what stands there.
 * Source: EN 319 102-1 §5.1.3 and table 5; docs/decisions/0307.
 */
import type { SubIndication } from '../core/validation-report.ts';

/** Sub-indications of TOTAL-FAILED; all others are INDETERMINATE. */
export type TotalSubIndication = Extract<
  SubIndication,
  'FORMAT_FAILURE' | 'HASH_FAILURE' | 'SIG_CRYPTO_FAILURE' | 'REVOKED' | 'EXPIRED' | 'NOT_YET_VALID'
>;

type Reasons = { readonly [subIndication in TotalSubIndication]?: string };

const COMPUTED = 'computed';
const TIMES: Reasons = {
  REVOKED: 'EN 319 102-1 §5.1.3: a content time-stamp proves that it was signed after the revocation',
  EXPIRED: 'EN 319 102-1 §5.1.3: a content time-stamp proves that it was signed after the end',
  NOT_YET_VALID: 'EN 319 102-1 §5.1.3: a time-stamp proves that it was signed before the start',
};
const PDF_SIGNATURE = 'ISO 32000-2 §12.8.1 and table 255';

/** By type of check. */
export const PROVEN_FAILURES: { readonly [type: string]: Reasons } = {
  // CMS
  'structure.cms': { FORMAT_FAILURE: 'X.690 §8; RFC 5652 §3, §5.1, §5.3' },
  'structure.content': { FORMAT_FAILURE: 'EN 319 142-1 §5.3: no content inside the CMS structure' },
  'attributes.signed': { FORMAT_FAILURE: 'RFC 5652 §5.3 and §11: required, and each once with one value' },
  'attributes.content-type': { FORMAT_FAILURE: 'RFC 5652 §11.1: the type of the signed content' },
  'digest.content': { FORMAT_FAILURE: 'RFC 5652 §11.2: message-digest is required', HASH_FAILURE: COMPUTED },
  'content.given': { HASH_FAILURE: COMPUTED },
  'algorithm.protection': { SIG_CRYPTO_FAILURE: 'RFC 6211 §3: both names must be the same' },
  'algorithm.agreement': {
    SIG_CRYPTO_FAILURE:
      'RFC 8017 §8.1.2, RFC 5753 §2.1.1, RFC 4055 §3.1: key and parameters of the algorithm',
  },
  'signature.value': {
    SIG_CRYPTO_FAILURE: COMPUTED,
    FORMAT_FAILURE: 'XML Signature 1.1 §4.4: SignedInfo that is not one',
  },

  // Time-stamps
  'timestamp.structure': { FORMAT_FAILURE: 'RFC 3161 §2.4.2' },
  'timestamp.imprint': { HASH_FAILURE: COMPUTED },
  'timestamp.content-type': { FORMAT_FAILURE: 'RFC 3161 §2.4.2, RFC 5652 §5.3' },
  'timestamp.digest': { HASH_FAILURE: COMPUTED },
  'timestamp.value': {
    SIG_CRYPTO_FAILURE: COMPUTED,
    FORMAT_FAILURE: 'RFC 5652 §11: attributes of one value',
  },
  'timestamp.index': { HASH_FAILURE: COMPUTED },
  'timestamp.chain': TIMES,

  // Certificates
  'certificate.validity': TIMES,
  'revocation.revoked': TIMES,
  chain: TIMES,

  // PDF
  'pdf.structure': { FORMAT_FAILURE: 'ISO 32000-2 §7.5: readers repair it in ways of their own' },
  'pdf.byte-range': { FORMAT_FAILURE: PDF_SIGNATURE },
  'pdf.contents': { FORMAT_FAILURE: PDF_SIGNATURE },
  'pdf.field': { FORMAT_FAILURE: 'ISO 32000-2 §12.7.5.5: one signature for a field' },
  'pdf.overlap': { FORMAT_FAILURE: PDF_SIGNATURE },
  'pdf.revision': {
    FORMAT_FAILURE: 'ISO 32000-2 §12.8.1: the byte range is the whole file but the signature',
  },
  'pdf.signers': { FORMAT_FAILURE: 'ISO 32000-2 §12.8.3.3.1: one signer' },
  'pdf.changes': { FORMAT_FAILURE: 'ISO 32000-2 §12.8.2: a change that is not permitted' },

  // XML
  'ids.unique': { FORMAT_FAILURE: 'XML 1.0 §3.3.1: identifiers are unique' },
  'structure.xml': { FORMAT_FAILURE: 'XML 1.0' },
  'structure.signature': { FORMAT_FAILURE: 'XML Signature 1.1 §4' },
  'structure.scope': { FORMAT_FAILURE: 'XML Signature 1.1 §3.2: data outside of the signature' },
  'structure.properties': { FORMAT_FAILURE: 'EN 319 132-1 §4.4, §5.2' },
  'structure.manifest': { FORMAT_FAILURE: 'XML Signature 1.1 §5.1; EN 319 162-1 §A.4' },
  'structure.reference': { FORMAT_FAILURE: 'XML Signature 1.1 §4.4.3' },
  'reference.transforms': { FORMAT_FAILURE: 'XML Signature 1.1 §4.4.3.4, §6.6' },
  'reference.data': { FORMAT_FAILURE: 'XML Signature 1.1 §4.4.3.2' },
  'algorithm.signature': {
    FORMAT_FAILURE: 'XML Signature 1.1 §6.4: no parameters; keyed hashes are no signatures',
  },
  'digest.value': { HASH_FAILURE: COMPUTED },
  'digest.part': { HASH_FAILURE: COMPUTED },
  'digest.properties': { HASH_FAILURE: COMPUTED },
  'digest.manifest': { HASH_FAILURE: COMPUTED },

  // Containers
  'container.malformed': { FORMAT_FAILURE: 'APPNOTE of ZIP §4.3' },
  'container.hidden-bytes': { FORMAT_FAILURE: 'EN 319 162-1 §4.2: readers differ in what is in it' },
  'container.overlap': { FORMAT_FAILURE: 'APPNOTE of ZIP §4.3.7' },
  'container.header-mismatch': { FORMAT_FAILURE: 'APPNOTE of ZIP §4.3.12' },
  'container.unsafe-name': { FORMAT_FAILURE: 'APPNOTE of ZIP §4.4.17' },
  'container.duplicate-name': { FORMAT_FAILURE: 'EN 319 162-1 §4.2: readers differ in what is in it' },
  'container.special-file': { FORMAT_FAILURE: 'EN 319 162-1 §4.2' },
  'container.damaged': { FORMAT_FAILURE: COMPUTED },
  'container.lookalike': { FORMAT_FAILURE: 'EN 319 162-1 §4.3.3, §4.4.3: names of members' },
  'container.data-objects': { FORMAT_FAILURE: 'EN 319 162-1 §4.3.2: one file' },
  'container.signatures': { FORMAT_FAILURE: 'EN 319 162-1 §4.3.3.2: one signature file' },
  'container.comment': {
    FORMAT_FAILURE: 'EN 319 162-1 §4.3.3.1, §4.4.3.1: the comment names its media type',
  },
  'container.manifest': { FORMAT_FAILURE: 'EN 319 162-1 §4.4.3.2: a manifest for each signature' },
  'container.archive': { FORMAT_FAILURE: 'EN 319 162-1 §A.7: a time-stamp for each archive manifest' },
  'file.signatures': { FORMAT_FAILURE: 'EN 319 162-1 §4.4.3.2: a signature in each of its files' },
  'digest.member': { HASH_FAILURE: COMPUTED },
};

/** Returns the reason why a check that fails so proves that the signature is broken; undefined: nothing is proven. */
export function proofOf(type: string, subIndication: SubIndication): string | undefined {
  const reasons: { readonly [subIndication: string]: string } | undefined = Object.hasOwn(
    PROVEN_FAILURES,
    type,
  )
    ? PROVEN_FAILURES[type]
    : undefined;
  return reasons !== undefined && Object.hasOwn(reasons, subIndication) ? reasons[subIndication] : undefined;
}
