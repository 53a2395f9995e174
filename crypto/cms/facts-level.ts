import type { Evidence } from '../authorities.ts';
import type { SignatureLevel } from '../types.ts';
import type { TimestampFacts } from '../validation/facts.ts';
import { isSound } from '../validation/timestamp-facts.ts';

/** The baseline level that the sound parts of a B signature make up (EN 319 122-1 §6.3); whether anybody trusts them is judged later. */
export function levelOf(timestamps: readonly TimestampFacts[], { crls, ocsps }: Evidence): SignatureLevel {
  const has = (kind: TimestampFacts['kind']) =>
    timestamps.some((stamp) => stamp.kind === kind && isSound(stamp));
  if (!has('signature')) return 'B';
  if (crls.length + ocsps.length === 0) return 'T';
  return has('archive') ? 'LTA' : 'LT';
}
