/** What the batch service trusts when it validates. Source: batch-gaps §6.5. */

/** Plain data: given to the pool's threads as it is. */
export interface TrustOptions {
  /** DER of trusted roots. Empty: each profile trusts its own anchors alone. */
  readonly roots: readonly Buffer[];
  /** DER of further certificates for building chains. */
  readonly intermediates: readonly Buffer[];
  /** Fetch missing issuers from the addresses that certificates name. */
  readonly allowAia: boolean;
  /** `soft`: revoked fails, no answer is a warning; `hard`: both fail. */
  readonly revocation: 'none' | 'soft' | 'hard';
  /** For one answer, milliseconds. */
  readonly revocationTimeoutMs: number;
  /** Answers and verdicts are kept at most this long. */
  readonly cacheMinutes: number;
}

/** Nobody is trusted but each profile's own anchors, and nobody is asked. */
export const NO_TRUST: TrustOptions = {
  roots: [],
  intermediates: [],
  allowAia: false,
  revocation: 'none',
  revocationTimeoutMs: 5_000,
  cacheMinutes: 60,
};
