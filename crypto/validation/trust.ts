import type { Evidence, EvidenceSource } from '../authorities.ts';

/** What a validation trusts and asks for. */
export interface TrustSettings {
  /** DER of trust anchors. Empty: no chain can be proven, and every signature is INDETERMINATE at best. */
  readonly anchors: readonly Buffer[];
  /** DER of further certificates for building paths; trusted for nothing. */
  readonly intermediates: readonly Buffer[];
  /**
   * `none`: not looked at. `soft`: revoked fails, no answer is a warning. `hard`: no answer is INDETERMINATE / TRY_LATER.
   * Source: batch-gaps §6.5.
   */
  readonly revocation: 'none' | 'soft' | 'hard';
  /**
   * `by-date`: an algorithm proves nothing for times after its end. `as-listed`: it counts unless it had ended when the
   * list was made, for what one makes oneself. @default 'by-date'
   */
  readonly algorithms?: 'by-date' | 'as-listed';
  /** Answers from outside the file; left out, only what the file embeds counts. */
  readonly online?: EvidenceSource;
  /** Answers already at hand. */
  readonly evidence?: Evidence;
}

export interface ValidationRequest {
  readonly trust: TrustSettings;
  /** Time of validation, milliseconds since the epoch. */
  readonly at: number;
}
