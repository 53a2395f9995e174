import type { SignatureLevel } from '../../core/types.ts';
import type { Evidence } from '../../evidence/authorities.ts';
import type { TimestampInfo } from '../signature-info.ts';
import { isIntactTimestamp } from '../timestamp-info.ts';

/** Returns the baseline level for the intact parts of a B signature (EN 319 122-1 §6.3), independent of trust. */
export function levelOf(timestamps: readonly TimestampInfo[], { crls, ocsps }: Evidence): SignatureLevel {
  const has = (kind: TimestampInfo['kind']) =>
    timestamps.some((stamp) => stamp.kind === kind && isIntactTimestamp(stamp));
  if (!has('signature')) return 'B';
  if (crls.length + ocsps.length === 0) return 'T';
  return has('archive') ? 'LTA' : 'LT';
}
