/** Every case of the closed table of `actors/portal/signing/waiting-rules.ts`, alone and with each set of the others. */
import test from 'ava';
import {
  WAITING_CASES,
  type WaitingCase,
  waitingCase,
} from '../../../../actors/portal/signing/waiting-rules.ts';
import { OPENED_ALONE } from '../../../../contracts/portal/signing/waiting.ts';
import { documentMachine } from '../../../../machines/portal/documents/document.ts';
import type { DocumentContext } from '../../../../machines/portal/documents/document-context.ts';
import type { FlowAction } from '../../../../machines/portal/portal-types.ts';
import { documentInput, person, plan } from '../../../machines/portal/document-harness.ts';
import { initialContext, readCases } from '../../../machines/table.ts';

const FILE = 'actors/portal/signing/waiting-rules.ts';
const TURN = { flowActionId: 'a1', userId: 'u1' } as const;

interface Situation {
  readonly state: string;
  readonly context: DocumentContext;
  readonly email: string;
  readonly demands: boolean;
}
type Change = (situation: Situation) => Situation;

/** Nothing is asked but a signature. */
const plain: Situation = {
  state: 'Pending',
  context: initialContext(
    documentMachine,
    documentInput({
      actions: [
        plan('a1', { user: person('u1'), allowElectronicSignature: true }),
        plan('a2', { user: person('u2'), allowElectronicSignature: true }),
        plan('a3', { step: 1, user: person('u3') }),
      ],
    }),
  ) as DocumentContext,
  email: 'u1@example.org',
  demands: false,
};

const document =
  (change: object): Change =>
  (situation) => ({ ...situation, context: { ...situation.context, ...change } as DocumentContext });

const action =
  (change: (found: FlowAction) => object, index = 0): Change =>
  ({ context, ...situation }) => ({
    ...situation,
    context: {
      ...context,
      actions: context.actions.map((one, at) =>
        at === index ? ({ ...one, ...change(one) } as FlowAction) : one,
      ),
    },
  });

/** Ways into each case, each of which fits together with those of the others. */
const CASES: { readonly [name in Exclude<WaitingCase, 'signature'>]: readonly Change[] } = {
  'not-waiting': [
    ...['FlowConcluded', 'Concluded', 'Refused', 'Canceled', 'Expired', 'Deleted', ''].map(
      (state): Change =>
        (situation) => ({ ...situation, state }),
    ),
    ...['Created', 'Completed', 'Refused', 'Skipped', undefined].map((status) => action(() => ({ status }))),
    action(() => ({ id: 'gone' })),
    action(({ user }) => ({ user: { ...user, id: 'another' } })),
    action(({ user }) => ({ user: null, ruleUsers: [{ ...user, signatureDate: 1, hasRefused: false }] })),
    action(({ user }) => ({ user: null, ruleUsers: [{ ...user, signatureDate: null, hasRefused: true }] })),
  ],
  'not-yours': [
    ...['u2@example.org', 'u1+x@example.org', 'u1@example.org.evil.test', 'u1@exämple.org', ''].map(
      (email): Change =>
        (situation) => ({ ...situation, email }),
    ),
    action(({ user }) => ({ user: { ...user, email: null } })),
  ],
  'not-mailed': [
    document({ disableNotifications: true }),
    document({ startedQuietly: true }),
    document({ startedQuietly: true, mailedUsers: ['u2'] }),
  ],
  processing: [document({ accepted: [TURN] })],
  certificate: [
    action(() => ({ allowElectronicSignature: false })),
    (situation) => ({ ...situation, demands: true }),
  ],
  proof: [
    ...['Sms', 'Whatsapp', 'AuthenticatorApp'].map((one) => action(() => ({ confirmations: [one] }))),
    action(() => ({ disableEmailAuthentication: true })),
  ],
  initials: [action(() => ({ initialsMode: 'Required' }))],
  reading: [document({ requireReading: true })],
  fields: [
    action(() => ({ fields: [{ id: 'f', type: 'Text', isRequired: false }] })),
    action(() => ({ fields: [{ id: 'f', type: 'Attachment', isRequired: true }] })),
  ],
  shared: [
    action(() => ({ status: 'Completed', user: { ...person('u2'), email: 'u1@example.org' } }), 1),
    action(() => ({ user: { ...person('u3'), email: 'u1@example.org' } }), 2),
    action(({ user }) => ({ user: { ...user, email: 'U1@EXAMPLE.ORG' } }), 1),
    action(
      ({ user }) => ({
        type: 'SignRule',
        user: null,
        ruleUsers: [{ ...user, email: 'u1@example.org', signatureDate: null, hasRefused: false }],
      }),
      1,
    ),
  ],
};

const outcome = ({ state, context, email, demands }: Situation) =>
  waitingCase({ state, context }, TURN as never, email, demands);

test('each case of the table is found in each of its ways, and of several the first one', async (t) => {
  const names = (await readCases(FILE)) as readonly WaitingCase[];
  t.deepEqual(names, [...Object.keys(CASES), 'signature'] as WaitingCase[]);
  t.deepEqual(names, Object.keys(WAITING_CASES) as WaitingCase[]);
  const asked = names.slice(0, -1) as readonly Exclude<WaitingCase, 'signature'>[];
  for (let bits = 0; bits < 2 ** asked.length; bits += 1) {
    const set = asked.filter((_name, at) => (bits >> at) % 2 === 1);
    const most = Math.max(1, ...set.map((name) => CASES[name].length));
    for (let way = 0; way < most; way += 1) {
      const ways = set.map((name) => CASES[name][way % CASES[name].length] as Change);
      const found = outcome(ways.reduceRight((situation, change) => change(situation), plain));
      t.is(found, set[0] ?? 'signature', `${set.join()} ${way}`);
    }
  }
});

test('what the code gives is the same in the table, in the list and where a signature is asked', async (t) => {
  const opens = Object.entries(WAITING_CASES).flatMap(([name, gives]) => (gives === 'opens' ? [name] : []));
  t.deepEqual(opens, [...OPENED_ALONE]);
});

test('what looks like a case and is none is signed together: approvals, optional initials, what was mailed later', (t) => {
  const others = [
    document({ startedQuietly: true, mailedUsers: ['u1'] }),
    document({ accepted: [{ ...TURN, userId: 'u2' }] }),
    document({ reservations: [{ ...TURN, expiresAt: 1e13 }] }),
    action(() => ({ initialsMode: 'Optional' })),
    action(() => ({ fields: [] })),
    (situation: Situation) =>
      document({ format: 'Cades' })(action(() => ({ initialsMode: 'Required' }))(situation)),
    action(() => ({ type: 'Approver', allowElectronicSignature: false, confirmations: ['Sms'] })),
    (situation: Situation) => action(() => ({ type: 'Approver' }))({ ...situation, demands: true }),
    (situation: Situation) => ({ ...situation, email: 'U1@Example.ORG' }),
  ];
  for (const [at, change] of others.entries()) t.is(outcome(change(plain)), 'signature', `${at}`);
});
