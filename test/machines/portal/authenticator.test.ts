/** Authenticator apps and passkeys of participants. */
import test from 'ava';
import { authenticatorMachine } from '../../../machines/portal/authenticator.ts';
import { assertAgreement, attempt } from '../table.ts';

const factor = { totp: 'sealed', counter: 7, recovery: [], since: 1, failures: 0, lockedUntil: 0 };
const enrolled = { organizationId: 'o-1', email: 'ana@example.org', factor };
const { totp: _, ...withoutApp } = factor;
const challenge = { sha256: 'c1', expiresAt: 100 };
const events: Readonly<Record<string, object>> = {
  PROVE: { proof: { counter: 8 } },
  ENROL: { totp: 'sealed', counter: 8 },
  ADD_PASSKEY: { passkey: { id: 'k-1', counter: 0 }, challenge },
  RESET: { by: 'App' },
  FORGET: {},
};
const say = (
  context: object,
  type: string,
  {
    event = {},
    at = 9,
    from = 'Enrolled',
  }: {
    readonly event?: object | undefined;
    readonly at?: number | undefined;
    readonly from?: string | undefined;
  } = {},
) => attempt(authenticatorMachine, from, context, { type, at, ...events[type], ...event });

test('the table of authenticators and their machine agree in every state and on every event', async (t) => {
  await assertAgreement(t, {
    file: 'machines/portal/authenticator.ts',
    machine: authenticatorMachine,
    events,
    contextOf: (type) => (type === 'ENROL' ? { ...enrolled, factor: withoutApp } : enrolled),
  });
});

test('wrong codes lock those without a mailed code, and those beside one, each for itself', (t) => {
  const right = { proof: { counter: 8 } };
  const wrong = (context: object, isMailed: boolean) => {
    let locked = context;
    for (let count = 0; count < 5; count++)
      locked = say(locked, 'PROVE', { event: { proof: null, isMailed } }).context;
    return locked;
  };
  const byLink = wrong(enrolled, false);
  t.false(say(byLink, 'PROVE', { event: right }).accepted);
  const mailed = say(byLink, 'PROVE', { event: { ...right, isMailed: true } });
  t.true(mailed.accepted, 'nobody who has a link alone locks out who has the mailbox');
  t.false(
    say(mailed.context, 'PROVE', { event: { ...right, isMailed: true } }).accepted,
    'a code is good once',
  );
  const byMail = wrong(enrolled, true);
  t.false(say(byMail, 'PROVE', { event: { ...right, isMailed: true } }).accepted, 'they are limited, too');
  t.true(say(byMail, 'PROVE', { event: right }).accepted);
  t.true(say(byMail, 'PROVE', { event: { ...right, isMailed: true }, at: 9 + 60_000 }).accepted, 'later');
});
