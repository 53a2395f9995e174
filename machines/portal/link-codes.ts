/**
 * Number of codes that links for anybody have sent: of one link, to one mailbox, or to the telephones of an organization; and
 * of visits before a device.
 *
 * | from     | message   | to       | effects |                                 |
 * |----------|-----------|----------|---------|---------------------------------|
 * | Counting | CODE      | Counting |         | fewer than `most` in the period |
 * | Counting | after 2 d | Over     |         |                                 |
 *
 * Over is not stored: the actor ends.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import type { Millis } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export const LINK_CODES_ENDED = 'Over';

interface LinkCodesContext {
  /** Beginning of the period. */
  readonly since: Millis;
  /** Codes since then. */
  readonly count: number;
}

interface LinkCodesMessage extends RecordMessage {
  readonly type: 'CODE';
  readonly most: number;
  /** Milliseconds, at most a day. */
  readonly period: Millis;
}

export const linkCodesMachine = recordMachine<LinkCodesContext, LinkCodesMessage>({
  id: 'link-codes',
  state: 'Counting',
  context: (input) => input,
  changes: {
    CODE: ({ since, count }, { at, most, period }) => {
      if (at - since >= period) return { context: { since: at, count: 1 } };
      return count < most ? { context: { count: count + 1 } } : undefined;
    },
  },
  end: { state: LINK_CODES_ENDED, lifetimeMs: 2 * 24 * 3_600_000 },
});
