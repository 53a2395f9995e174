/**
 * Counts documents, webhook deliveries and e-mails by intervals of their creation. Reads rows, newest first, at most
 * `MAX_ROWS` of each range. Implements `OperatorActivity`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Millis } from '../../../machines/ids.ts';
import type { ActorStore, Clock, Row } from '../../../runtime/index.ts';
import type { OperatorActivity, PortalActivity } from '../api/activity.ts';
import type { OrganizationDeliveries } from '../api/webhooks.ts';
import { CREATED_DOCUMENT_ROW } from '../document-records/document-index.ts';
import { MAILS_BY_STATE } from '../mail/mails.ts';
import { ANY } from '../webhooks/deliveries.ts';

/** Maximum number of rows of one range that are read: about 50 ms on a store on disk. */
const MAX_ROWS = 5000;
const READ_AT_ONCE = 500;

export interface ActivityDependencies {
  readonly store: Pick<ActorStore, 'rows'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Organizations with deliveries. */
  organizations(): Promise<readonly Pick<OrganizationDeliveries, 'id'>[]>;
}

interface Range {
  readonly view: string;
  readonly prefix?: readonly string[];
}

export class Activity implements OperatorActivity {
  readonly #dependencies: ActivityDependencies;

  constructor(dependencies: ActivityDependencies) {
    this.#dependencies = dependencies;
  }

  async activity(window: Millis, intervals: number): Promise<PortalActivity> {
    const { clock, organizations } = this.#dependencies;
    const since = clock.now() - window;
    const interval = window / intervals;
    let isComplete = true;
    const count = async (
      range: Range,
      timeOf: (row: Row) => Millis,
      add: (row: Row, at: number) => void,
    ): Promise<void> => {
      let after: Row['key'] | undefined;
      for (let read = 0; read < MAX_ROWS; read += READ_AT_ONCE) {
        const rows = await this.#dependencies.store.rows({
          ...{ ...range, reverse: true, limit: READ_AT_ONCE },
          ...(after && { after }),
        });
        for (const row of rows) {
          const at = Math.floor((timeOf(row) - since) / interval);
          if (at < 0) return;
          add(row, Math.min(at, intervals - 1));
        }
        if (rows.length < READ_AT_ONCE) return;
        after = rows.at(-1)?.key;
        // Reads of a store on disk do not wait; other work of the thread comes in between.
        await nextTurn();
      }
      isComplete = false;
    };
    const series = () => new Array<number>(intervals).fill(0);
    const increment = (counts: number[]) => (_: Row, at: number) => {
      counts[at] = (counts[at] ?? 0) + 1;
    };
    const [created, concluded, refused] = [series(), series(), series()];
    await count(
      { view: 'documents-created' },
      ({ value }) => CREATED_DOCUMENT_ROW.read(value).creationDate,
      (row, at) => {
        increment(created)(row, at);
        const { status } = CREATED_DOCUMENT_ROW.read(row.value);
        if (status === 'Concluded') increment(concluded)(row, at);
        if (status === 'Refused') increment(refused)(row, at);
      },
    );
    const [sent, lost] = [series(), series()];
    const mailTime = ({ key }: Row) => Number(key[1]);
    await count({ view: MAILS_BY_STATE, prefix: ['Sent'] }, mailTime, increment(sent));
    await count({ view: MAILS_BY_STATE, prefix: ['Failed'] }, mailTime, increment(lost));
    const [delivered, failed] = [series(), series()];
    const deliveryTime = ({ key }: Row) => Number(key[3]);
    for (const { id } of await organizations()) {
      await count({ view: 'deliveries', prefix: [id, ANY, 'Delivered'] }, deliveryTime, increment(delivered));
      await count({ view: 'deliveries', prefix: [id, ANY, 'Failed'] }, deliveryTime, increment(failed));
    }
    return {
      ...{ since, interval },
      documents: { created, concluded, refused },
      webhooks: { delivered, failed },
      mails: { sent, failed: lost },
      complete: isComplete,
    };
  }
}
