/**
 * Rows of what is held, planned to be deleted by a rule, and deleted by one: view `retention` [organization, list, time, id];
 * counters `retention/<organization>/<list>`.
 */
import { jsonType, type Row } from '@sealwright/runtime';
import type { RetentionItem, RetentionList } from '../../../contracts/portal/retention/retention.ts';
import type { Millis, OrganizationId } from '../../../machines/ids.ts';

export const RETENTION_VIEW = 'retention';

interface RetentionRow extends Pick<RetentionItem, 'type'> {
  /** In which it is; of a folder, itself. */
  readonly folder: string | null;
  /** Pass that planned the deletion. */
  readonly pass?: number;
}

export const RETENTION_ROW = jsonType<RetentionRow>();

export function retentionRow(
  [organization, list, at, id]: readonly [OrganizationId, RetentionList, Millis, string],
  value: RetentionRow,
): Row {
  return { view: RETENTION_VIEW, key: [organization, list, at, id], value: RETENTION_ROW.write(value) };
}

export function retentionCounter(organization: OrganizationId, list: RetentionList): string {
  return `retention/${organization}/${list}`;
}

/** A count for each of the rows. */
export function retentionCounters(rows: readonly Row[]): { readonly [name: string]: number } {
  return Object.fromEntries(
    rows
      .filter(({ view }) => view === RETENTION_VIEW)
      .map(({ key }) => [retentionCounter(key[0] as OrganizationId, key[1] as RetentionList), 1]),
  );
}
