/** Counts of documents, webhook deliveries and e-mails by the time of their creation. */

import { defineActor, type Row } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { setup } from 'xstate';
import { Activity } from '../../../../actors/portal/reports/activity.ts';
import { portalStoreFixture } from '../uploads/upload-harness.ts';

interface Rows {
  readonly rows: readonly Row[];
}

/** Actor that has the rows it is given. */
const rowsDefinition = defineActor('rows', {
  version: 1,
  machine: setup({ types: { context: {} as Rows, input: {} as Rows } }).createMachine({
    id: 'rows',
    context: ({ input }) => input,
    initial: 'There',
    states: { There: {} },
  }),
  rows: ({ context }) => context.rows,
});

const HOUR = 3_600_000;
const NOW = 100 * HOUR;

async function startActivity(
  t: ExecutionContext,
  rows: readonly Row[],
  organizations: (clock: SimulatedClock) => Promise<readonly string[]> = async () => [],
): Promise<Activity> {
  const { store, runtime } = await portalStoreFixture(t, { definitions: [rowsDefinition] });
  const clock = new SimulatedClock(NOW);
  const outcome = await runtime.create(rowsDefinition, '1', { rows });
  t.true(outcome.accepted);
  return new Activity(store, clock, () => organizations(clock));
}

const document = (order: number, creationDate: number, status: string): Row => ({
  view: 'documents-created',
  key: [order],
  value: { creationDate, status, isEnvelope: false },
});
const mail = (state: string, at: number, id: string): Row => ({
  view: 'mails-by',
  key: [state, at, id],
  value: id,
});
const delivery = (organization: string, state: string, at: number, id: string): Row => ({
  view: 'deliveries',
  key: [organization, '*', state, at, id],
  value: null,
});

test('documents, deliveries and e-mails are counted in the interval of their creation', async (t) => {
  const activity = await startActivity(
    t,
    [
      document(1, NOW - 5 * HOUR, 'Concluded'),
      document(2, NOW - 3.5 * HOUR, 'Concluded'),
      document(3, NOW - 1, 'Refused'),
      document(4, NOW, 'Started'),
      mail('Sent', NOW - 3.5 * HOUR, 'a'),
      mail('Sent', NOW - 9 * HOUR, 'b'),
      mail('Failed', NOW - 1.5 * HOUR, 'c'),
      delivery('one', 'Delivered', NOW - 2.5 * HOUR, 'd'),
      delivery('two', 'Delivered', NOW - 2.5 * HOUR, 'e'),
      delivery('two', 'Failed', NOW - 0.5 * HOUR, 'f'),
      delivery('three', 'Failed', NOW - 0.5 * HOUR, 'g'),
    ],
    async () => ['one', 'two'],
  );
  t.deepEqual(await activity.activity(4 * HOUR, 4), {
    since: NOW - 4 * HOUR,
    interval: HOUR,
    documents: { created: [1, 0, 0, 2], concluded: [1, 0, 0, 0], refused: [0, 0, 0, 1] },
    webhooks: { delivered: [0, 2, 0, 0], failed: [0, 0, 0, 1] },
    mails: { sent: [1, 0, 0, 0], failed: [0, 0, 1, 0] },
    complete: true,
    incomplete: [],
  });
});

test('deliveries beyond 5,000 of an organization are named as not all counted', async (t) => {
  const rows = Array.from({ length: 5001 }, (_, at) => delivery('one', 'Delivered', NOW - 1, String(at)));
  const activity = await startActivity(t, [...rows, mail('Sent', NOW - 1, 'a')], async () => ['one']);
  const { webhooks, mails, complete, incomplete } = await activity.activity(HOUR, 1);
  t.deepEqual(webhooks, { delivered: [5000], failed: [0] });
  t.deepEqual(mails, { sent: [1], failed: [0] });
  t.deepEqual([complete, incomplete], [false, ['webhooks']]);
});

test('organizations beyond 1,000 are named as not all counted', async (t) => {
  const ids = Array.from({ length: 1001 }, (_, at) => `organization-${at}`);
  const rows = [0, 999, 1000].map((at) => delivery(ids[at] ?? '', 'Failed', NOW - 1, 'a'));
  const activity = await startActivity(t, rows, async () => ids);
  const { webhooks, incomplete } = await activity.activity(HOUR, 1);
  t.deepEqual(webhooks, { delivered: [0], failed: [2] });
  t.deepEqual(incomplete, ['webhooks']);
});

test('no row is read after five seconds, and the sort with rows left is named', async (t) => {
  const activity = await startActivity(
    t,
    [document(1, NOW - 1, 'Started'), delivery('one', 'Failed', NOW - 1, 'a')],
    async (clock) => {
      await clock.advance(5000);
      return ['one', 'two'];
    },
  );
  const { documents, webhooks, complete, incomplete } = await activity.activity(HOUR, 1);
  t.deepEqual(documents.created, [1]);
  t.deepEqual(webhooks.failed, [0]);
  t.deepEqual([complete, incomplete], [false, ['webhooks']]);
});
