import test from 'ava';
import { transition } from 'xstate';
import { MAIL_STATUSES } from '../../../contracts/deliveries.ts';
import {
  CODE_DELIVERY_TIMEOUT_MS,
  DELIVERY_TIMEOUT_MS,
  MAIL_ENDED,
  type MailContext,
  mailMachine,
} from '../../../machines/portal/mail.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const fresh = (about = 'pending') =>
  initialContext(mailMachine, { organizationId: 'o-1', content: { about }, at: 1000 }) as MailContext;

const EVENTS: { readonly [type: string]: object } = {
  SENT: { reply: '250 ok' },
  REFUSED: { code: 'mail.refused', message: '550 no such user' },
  DELAYED: { code: 'mail.unreachable', message: 'ECONNREFUSED' },
  SEND_NOW: {},
};

/** Deadlines are named by their delay in the table. */
function eventOf(from: string, name: string): string {
  return name in EVENTS ? name : `xstate.after.${name}.mail.${from}`;
}

test('the mail table and its machine agree in every state, on every event and deadline, in time and too late', async (t) => {
  const table = await readTable('machines/portal/mail.ts');
  const { states, events } = declared(mailMachine);
  t.deepEqual([...states].sort(), [...MAIL_STATUSES, MAIL_ENDED].sort());
  const inTable = new Set(table.map(({ from, event }) => eventOf(from, event)));
  t.deepEqual([...events].sort(), [...inTable].sort());
  for (const [condition, at] of [
    ['before its expiry', 1000 + DELIVERY_TIMEOUT_MS - 1],
    ['after its expiry', 1000 + DELIVERY_TIMEOUT_MS],
  ] as const) {
    for (const from of states) {
      for (const type of events) {
        const rows = table.filter((row) => row.from === from && eventOf(from, row.event) === type);
        const row = rows.length > 1 ? rows.find((candidate) => candidate.condition === condition) : rows[0];
        const outcome = attempt(mailMachine, from, fresh(), { type, at, ...EVENTS[type] });
        t.is(outcome.accepted, row !== undefined, `${from} × ${type} ${condition}`);
        t.is(outcome.to, row?.to ?? from, `${from} × ${type} ${condition}`);
        t.deepEqual(outcome.effects, row?.effects ?? [], `${from} × ${type} ${condition}`);
      }
    }
  }
});

test('pauses between attempts of a mail double up to an hour, and a code is abandoned at its expiry', (t) => {
  const delay = (tries: number): number => {
    const { delays } = mailMachine.implementations;
    const pause = delays['pause'] as unknown as (args: object) => number;
    return pause({ context: { ...fresh(), tries } });
  };
  t.deepEqual([1, 2, 3, 7].map(delay), [30_000, 2 * 30_000, 4 * 30_000, 64 * 30_000]);
  t.is(delay(8), 3_600_000);
  t.is(delay(500), 3_600_000);
  const late = { type: 'DELAYED', at: 1000 + CODE_DELIVERY_TIMEOUT_MS, code: 'x', message: 'y' };
  t.is(attempt(mailMachine, 'Queued', fresh('code'), late).to, 'Failed');
  t.is(attempt(mailMachine, 'Queued', fresh(), late).to, 'Waiting');
});

test('the last ten failed attempts of a mail are stored', (t) => {
  let snapshot = mailMachine.resolveState({ value: 'Queued', context: fresh() });
  for (let n = 1; n <= 25; n++) {
    const delayed = { type: 'DELAYED', at: n, code: 'c', message: `try ${n}` } as const;
    snapshot = transition(mailMachine, snapshot, delayed)[0];
    snapshot = mailMachine.resolveState({ value: 'Queued', context: snapshot.context });
  }
  t.is(snapshot.context.tries, 25);
  t.deepEqual(
    snapshot.context.failures.map(({ message }) => message),
    Array.from({ length: 10 }, (_, n) => `try ${n + 16}`),
  );
});
