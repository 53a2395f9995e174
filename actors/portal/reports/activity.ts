/**
 * Counts documents, webhook deliveries and e-mails by intervals of their creation. Reads rows, newest first, at most
 * `MAX_ROWS` of each range, until `DEADLINE_MS`. Implements `OperatorActivity`.
 *
 * Source: docs/decisions/0151-shared-answers-for-pages.md.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Clock, Row } from '@sealwright/runtime';
import type { MailStatus } from '../../../contracts/deliveries.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { ActivitySort, OperatorActivity, PortalActivity, PortalLoad } from '../api/activity.ts';
import { CREATED_DOCUMENT_ROW } from '../document-records/document-index.ts';
import { MAILS_BY_STATE } from '../mails/mails.ts';
import { ANY } from '../webhooks/deliveries.ts';

const SORTS: readonly ActivitySort[] = ['documents', 'webhooks', 'mails'];
/** Maximum number of rows of one range that are read: about 50 ms on a store on disk. */
const MAX_ROWS = 5000;
const READ_AT_ONCE = 500;
/** Maximum number of organizations whose deliveries are read, and of those read at the same time. */
const MAX_ORGANIZATIONS = 1000;
const ORGANIZATIONS_AT_ONCE = 8;
/** Time after which no further rows are read. */
const DEADLINE_MS: Millis = 5000;

/** States of mails that wait for an attempt. */
const WAITING_MAILS: readonly MailStatus[] = ['Queued', 'Waiting'];

function least(times: readonly Millis[]): Millis | null {
  return times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
}

interface Range {
  readonly sort: ActivitySort;
  readonly view: string;
  readonly prefix?: readonly string[];
  timeOf(row: Row): Millis;
  /** Counts a row in one of the intervals. */
  add(at: number, row: Row): void;
}

export class Activity implements OperatorActivity {
  constructor(
    private readonly store: Pick<ActorStore, 'rows' | 'counters'>,
    private readonly clock: Pick<Clock, 'now' | 'elapsed'>,
    /** Returns the organizations with deliveries, those with most failures first. */
    private readonly organizations: () => Promise<readonly string[]>,
  ) {}

  async load(): Promise<PortalLoad> {
    const { store, organizations } = this;
    const [documents, mails, webhooks] = await Promise.all([
      this.#totals('documents/'),
      this.#totals('mails/'),
      this.#totals('deliveries/'),
    ]);
    const oldest = async (view: string, prefix: readonly string[]) => {
      const [row] = await store.rows({ view, prefix, limit: 1 });
      return row === undefined ? [] : [Number(row.key[prefix.length])];
    };
    const waitingMails = await Promise.all(WAITING_MAILS.map((state) => oldest(MAILS_BY_STATE, [state])));
    const all = webhooks['Pending'] ? (await organizations()).slice(0, MAX_ORGANIZATIONS) : [];
    const waitingCalls = await Promise.all(
      all.map((organization) => oldest('deliveries', [organization, ANY, 'Pending'])),
    );
    return {
      documents,
      mails: { counts: mails, oldestWaiting: least(waitingMails.flat()) },
      webhooks: { counts: webhooks, oldestWaiting: least(waitingCalls.flat()) },
    };
  }

  /** Adds up counters by the last part of their names. */
  async #totals(prefix: string): Promise<{ readonly [state: string]: number }> {
    const totals: { [state: string]: number } = {};
    for (const [name, count] of Object.entries(await this.store.counters(prefix))) {
      const state = name.slice(name.lastIndexOf('/') + 1);
      totals[state] = (totals[state] ?? 0) + count;
    }
    return totals;
  }

  async activity(window: Millis, intervals: number): Promise<PortalActivity> {
    const { store, clock, organizations } = this;
    const since = clock.now() - window;
    const count = new RangeReader({ store, clock, since, window, intervals });
    const series = () => new Array<number>(intervals).fill(0);
    const increment = (counts: number[], at: number) => {
      counts[at] = (counts[at] ?? 0) + 1;
    };
    const created = series();
    const concluded = series();
    const refused = series();
    await count.read({
      sort: 'documents',
      view: 'documents-created',
      timeOf: ({ value }) => CREATED_DOCUMENT_ROW.read(value).creationDate,
      add: (at, { value }) => {
        increment(created, at);
        const { status } = CREATED_DOCUMENT_ROW.read(value);
        if (status === 'Concluded') increment(concluded, at);
        if (status === 'Refused') increment(refused, at);
      },
    });
    const mails = { sent: series(), failed: series() };
    const mailsOf = (state: string, counts: number[]) =>
      count.read({
        sort: 'mails',
        view: MAILS_BY_STATE,
        prefix: [state],
        timeOf: ({ key }) => Number(key[1]),
        add: (at) => increment(counts, at),
      });
    await mailsOf('Sent', mails.sent);
    await mailsOf('Failed', mails.failed);
    const webhooks = { delivered: series(), failed: series() };
    const deliveriesOf = (organization: string, state: string, counts: number[]) =>
      count.read({
        sort: 'webhooks',
        view: 'deliveries',
        prefix: [organization, ANY, state],
        timeOf: ({ key }) => Number(key[3]),
        add: (at) => increment(counts, at),
      });
    const all = await organizations();
    if (all.length > MAX_ORGANIZATIONS) count.incomplete.add('webhooks');
    const waiting = all.slice(0, MAX_ORGANIZATIONS).values();
    const readWaiting = async () => {
      for (const organization of waiting) {
        await deliveriesOf(organization, 'Failed', webhooks.failed);
        await deliveriesOf(organization, 'Delivered', webhooks.delivered);
      }
    };
    await Promise.all(Array.from({ length: ORGANIZATIONS_AT_ONCE }, readWaiting));
    return {
      since,
      interval: window / intervals,
      documents: { created, concluded, refused },
      webhooks,
      mails,
      complete: count.incomplete.size === 0,
      incomplete: SORTS.filter((sort) => count.incomplete.has(sort)),
    };
  }
}

/** Reads ranges from their newest row to the begin of the window. */
class RangeReader {
  readonly #interval: Millis;
  readonly #end: Millis;
  /** Sorts of which rows were left out. */
  readonly incomplete = new Set<ActivitySort>();

  constructor(
    private readonly needs: {
      readonly store: Pick<ActorStore, 'rows'>;
      readonly clock: Pick<Clock, 'elapsed'>;
      readonly since: Millis;
      readonly window: Millis;
      readonly intervals: number;
    },
  ) {
    this.#interval = needs.window / needs.intervals;
    this.#end = needs.clock.elapsed() + DEADLINE_MS;
  }

  async read({ sort, timeOf, add, ...range }: Range): Promise<void> {
    const { store, clock } = this.needs;
    let after: Row['key'] | undefined;
    for (let read = 0; read < MAX_ROWS && clock.elapsed() < this.#end; read += READ_AT_ONCE) {
      const rows = await store.rows({
        ...range,
        reverse: true,
        limit: READ_AT_ONCE,
        ...(after && { after }),
      });
      for (const row of rows) {
        const at = Math.floor((timeOf(row) - this.needs.since) / this.#interval);
        if (at < 0) return;
        add(Math.min(at, this.needs.intervals - 1), row);
      }
      if (rows.length < READ_AT_ONCE) return;
      after = rows.at(-1)?.key;
      // Reads of a store on disk do not wait; other work of the thread comes in between.
      await nextTurn();
    }
    this.incomplete.add(sort);
  }
}
