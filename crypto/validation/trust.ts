import type { Evidence, EvidenceSource } from '../evidence/authorities.ts';
import type { TrustLists } from '../qualification/signature-qualification.ts';

/** Trust anchors and policy of a validation. Source: RFC 5280 §6.1.1; EN 319 102-1 §5.2.6. */
export interface TrustSettings {
  /** DER of trust anchors. Empty: no chain can be proven, and every signature is INDETERMINATE at best. */
  readonly anchors: readonly Buffer[];
  /** DER of candidates for intermediate certificates; untrusted. @default none */
  readonly intermediates?: readonly Buffer[];
  /**
   * SHA-256 of signer certificates that are accepted without a path to a trust anchor, lower-case hex. A signature of
   * such a certificate passes with the warning `certificate.unproven`. @default none
   */
  readonly acceptedUnproven?: readonly string[];
  /**
   * `none`: not checked. `soft`: revoked fails, a missing status is a warning. `hard`: a missing status is
   * INDETERMINATE / TRY_LATER.
   * Source: docs/batch-values.md §6.5.
   */
  readonly revocation: 'none' | 'soft' | 'hard';
  /**
   * `by-date`: an algorithm proves nothing for times after its end. `as-listed`: it counts unless it had ended when the
   * list was made, for the product's own signatures. @default 'by-date'
   */
  readonly algorithms?: 'by-date' | 'as-listed';
  /**
   * `present`: a level counts when its values are there. `trusted`: above B, an authority whose time-stamp proves the signature
   * is trusted as well. @default 'trusted' when there are trust anchors
   */
  readonly levels?: 'present' | 'trusted';
  /** Source of evidence outside the file; left out, only embedded evidence is used. */
  readonly online?: EvidenceSource;
  /** Evidence collected before. */
  readonly evidence?: Evidence;
  /** Evidence in `evidence` that `online` gave for this validation: there is no newer one. @default none */
  readonly asked?: Evidence;
  /**
   * Authentic trusted lists: each signature is qualified by them, and paths may end at their services that were in good
   * standing at the proven time. @default none
   */
  readonly lists?: TrustLists | undefined;
}

export interface ValidationRequest {
  readonly trust: TrustSettings;
  /** Time of validation, milliseconds since the epoch. */
  readonly at: number;
}
