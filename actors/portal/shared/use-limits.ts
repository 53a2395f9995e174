/** Limits of what strangers cause: uses of one kind in a period, whichever node takes them. */
import { accepted } from '@sealwright/runtime';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { derivedId } from './effect-ids.ts';
import { LINK_CODES } from './link-records.ts';
import { busyUnlessMade } from './records.ts';

export interface UseLimit {
  /** Names the kind, and what is limited. */
  readonly of: readonly string[];
  readonly most: number;
  /** Milliseconds. */
  readonly period: number;
}

/** Counts one use. Refusals: `TooManyRequests`. @param message text of that refusal */
export async function countUse(
  actors: ServiceRuntime['actors'],
  { of, most, period }: UseLimit,
  message: string,
): Promise<void> {
  const counter = derivedId('link-codes', ...of);
  await accepted(actors.create(LINK_CODES, counter, { since: 0, count: 0 }), busyUnlessMade);
  await accepted(
    actors.send(LINK_CODES, counter, { type: 'CODE', most, period }),
    () => new PortalRefusal('TooManyRequests', message, { retryAfterSeconds: period / 1_000 }),
  );
}
