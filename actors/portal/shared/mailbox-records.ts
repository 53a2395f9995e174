/** Decisions of people of mailboxes, found by the mailbox, and by that of a deputy. Source: docs/decisions/0580-deputies.md. */
import { type Calls, defineActor, jsonType } from '@sealwright/runtime';
import { MAX_DEPUTYSHIPS } from '../../../contracts/portal/signing/deputies.ts';
import type { Millis } from '../../../machines/ids.ts';
import { notify } from '../../../machines/portal/mail.ts';
import { type Deputy, isDeputyAt, MAILBOX_OVER, mailboxMachine } from '../../../machines/portal/mailbox.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { derivedId } from './effect-ids.ts';
import { addressKey } from './mail-address.ts';

const VIEW = 'deputies';

const ROW = jsonType<{ readonly email: string }>();

/** Rows: `deputies` [address of a deputy, end, id] → mailbox of the person. */
export const MAILBOX = defineActor('mailbox', {
  machine: mailboxMachine,
  effects: [notify],
  version: 1,
  rows: ({ id, context: { email, deputies } }) =>
    deputies.map((one) => ({
      view: VIEW,
      key: [deputyKey(one.email), one.until, id],
      value: ROW.write({ email }),
    })),
  ends: ({ state }) => state === MAILBOX_OVER,
});

export function mailboxId(email: string): string {
  return derivedId('mailbox', 'of', addressKey(email));
}

function deputyKey(email: string): string {
  return derivedId('deputy', addressKey(email));
}

/** Deputies of a mailbox, of now and later. */
export async function deputiesOf(
  actors: Pick<Calls, 'read'>,
  email: string,
  at: Millis,
): Promise<readonly Deputy[]> {
  const mailbox = await actors.read(MAILBOX, mailboxId(email));
  return (mailbox?.context.deputies ?? []).filter(({ until }) => at < until);
}

/** The deputyship of one mailbox for another that holds at a time; undefined = none. */
export async function deputyshipOf(
  actors: Pick<Calls, 'read'>,
  { person, deputy }: { readonly person: string; readonly deputy: string },
  at: Millis,
): Promise<Deputy | undefined> {
  const own = await deputiesOf(actors, person, at);
  return own.find((one) => one.email === addressKey(deputy) && isDeputyAt(one, at));
}

/** True for a mailbox that has deputies, or is one, now, later or until lately. */
export async function hasDeputies(
  { actors, store }: Pick<ServiceRuntime, 'actors' | 'store'>,
  email: string,
): Promise<boolean> {
  const own = await actors.read(MAILBOX, mailboxId(email));
  const rows = await store.rows({ view: VIEW, prefix: [deputyKey(email)], limit: 1 });
  return rows.length > 0 || (own?.context.deputies ?? []).length > 0;
}

/** Of the first people who have the mailbox as deputy, now or later, those that end first in front. */
function rowsOfDeputy({ store, clock }: Pick<ServiceRuntime, 'store' | 'clock'>, email: string) {
  const key = deputyKey(email);
  // What is over hides nothing.
  const after = [key, clock.now() + 1];
  return store.rows({ view: VIEW, prefix: [key], after, limit: MAX_DEPUTYSHIPS });
}

/** True when as many people as may have the mailbox as deputy, now or later. */
export async function isDeputyOfMost(
  runtime: Pick<ServiceRuntime, 'store' | 'clock'>,
  email: string,
): Promise<boolean> {
  return (await rowsOfDeputy(runtime, email)).length >= MAX_DEPUTYSHIPS;
}

/** A person who has named a deputy. */
interface Deputyship {
  readonly person: string;
  readonly deputy: Deputy;
}

/** People who have named the mailbox as deputy, of now and later, those that end first in front. */
export async function peopleOfDeputy(
  runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>,
  email: string,
): Promise<readonly Deputyship[]> {
  const { actors, clock } = runtime;
  const rows = await rowsOfDeputy(runtime, email);
  const found = await Promise.all(
    rows.map(async ({ value }) => {
      const { email: person } = ROW.read(value);
      const own = await deputiesOf(actors, person, clock.now());
      return own.filter((one) => one.email === addressKey(email)).map((deputy) => ({ person, deputy }));
    }),
  );
  return found.flat();
}
