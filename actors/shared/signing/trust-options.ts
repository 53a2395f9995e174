/** Trust settings of the batch service. Source: docs/batch-values.md §6.5. */

import type { ListPlace } from '@sealwright/signatures';

/** Plain data that is posted to the threads of the pool. */
export interface TrustOptions {
  /** DER of trusted roots. Empty: each profile trusts only its own anchors. */
  readonly roots: readonly Buffer[];
  /** DER of further certificates for building chains. */
  readonly intermediates: readonly Buffer[];
  /** Hosts that missing issuers are fetched from: `Signing:Trust:AiaHosts` with `AllowAia`, otherwise none. */
  readonly issuerHosts: readonly string[];
  /** `Signing:Trust:AllowPrivate`: permits private addresses in certificates. */
  readonly allowPrivate: boolean;
  /** `soft`: revoked fails, no response is a warning; `hard`: both fail. */
  readonly revocation: 'none' | 'soft' | 'hard';
  /** Time limit of one response, milliseconds. */
  readonly revocationTimeoutMs: number;
  /** Maximum age of cached responses and results. */
  readonly cacheMinutes: number;
  /** Trusted lists that are kept (`Signing:Trust:Lists`). @default none */
  readonly lists?: ListPlace | undefined;
}

/** Trusts only each profile's own anchors and contacts no responder. */
export const NO_TRUST: TrustOptions = {
  roots: [],
  intermediates: [],
  issuerHosts: [],
  allowPrivate: false,
  revocation: 'none',
  revocationTimeoutMs: 5_000,
  cacheMinutes: 60,
};
