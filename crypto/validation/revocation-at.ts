import type { Evidence } from '../authorities.ts';
import type { Certificate } from '../certificates/certificate.ts';

export interface RevocationQuestion {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  /** The whole path, for answers signed by somebody on it. */
  readonly path: readonly Certificate[];
  readonly evidence: Evidence;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type RevocationAnswer =
  | { readonly status: 'good'; readonly detail: string | undefined }
  | { readonly status: 'unknown'; readonly detail: string | undefined }
  | { readonly status: 'revoked'; readonly since: number; readonly detail: string | undefined };

/** What the evidence says about one certificate at a time. */
export function revocationAt(_question: RevocationQuestion): RevocationAnswer {
  return { status: 'unknown', detail: undefined };
}
