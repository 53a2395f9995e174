import { Asn1Error, contents, type Element } from '../asn1/read.ts';

/** CRLReason (RFC 5280 §5.3.1) by number. */
const REASONS = [
  'unspecified',
  'keyCompromise',
  'cACompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  undefined,
  'removeFromCRL',
  'privilegeWithdrawn',
  'aACompromise',
] as const;

type RevocationReason = NonNullable<(typeof REASONS)[number]>;

/** Time and reason of a revocation. */
export interface Revocation {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reason: RevocationReason;
}

const ENUMERATED = 0x0a;

/** Reads CRLReason ::= ENUMERATED (RFC 5280 §5.3.1). @throws {Asn1Error} */
export function readReason(element: Element): RevocationReason {
  const [number = -1] = contents(element);
  if (element.tag !== ENUMERATED) throw new Asn1Error('revocation reason malformed', element.start);
  return REASONS[number] ?? 'unspecified';
}
