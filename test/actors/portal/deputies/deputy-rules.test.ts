/** Every case of the closed table of `actors/portal/deputies/deputy-rules.ts`, alone and with each set of the others, and of its step. */
import test from 'ava';
import { type DeputyFault, deputyFault } from '../../../../actors/portal/deputies/deputy-rules.ts';
import { type ActingFault, actingFault } from '../../../../machines/portal/documents/deputy-acts.ts';
import { documentMachine } from '../../../../machines/portal/documents/document.ts';
import type { DocumentContext } from '../../../../machines/portal/documents/document-context.ts';
import { approve, sign } from '../../../../machines/portal/documents/participant-actions.ts';
import { passingFault } from '../../../../machines/portal/documents/passing-on.ts';
import type { FlowAction } from '../../../../machines/portal/portal-types.ts';
import { documentInput, person, plan } from '../../../machines/portal/document-harness.ts';
import { initialContext, readCases } from '../../../machines/table.ts';

const AT = 8_000;
const TURN = { flowActionId: 'a1', userId: 'u1' } as const;

interface Situation {
  readonly state: string;
  readonly context: DocumentContext;
  readonly deputy: {
    readonly name: string;
    readonly email: string;
    readonly asciiEmail: string;
    readonly from: number;
    readonly until: number;
  };
  readonly shownName: string | undefined;
  readonly refuses: boolean;
  readonly demands: boolean;
  readonly sender: string | null | undefined;
  readonly at: number;
}
type Change = (situation: Situation) => Situation;

/** Nothing is against it. */
const allowed: Situation = {
  state: 'Pending',
  context: initialContext(
    documentMachine,
    documentInput({
      actions: [
        plan('a1', { user: person('u1'), allowElectronicSignature: true, allowPassingOn: true }),
        plan('a2', { user: person('u2'), allowElectronicSignature: true }),
        plan('a3', { step: 1, user: person('u3') }),
      ],
    }),
  ) as DocumentContext,
  deputy: {
    name: 'Lou',
    email: 'lou@bücher.example',
    asciiEmail: 'lou@xn--bcher-kva.example',
    from: AT - 1,
    until: AT + 1,
  },
  shownName: undefined,
  refuses: false,
  demands: false,
  sender: 'sender@example.org',
  at: AT,
};

const situation =
  (change: (found: Situation) => object): Change =>
  (found) => ({ ...found, ...change(found) });

const document = (change: object | ((found: Situation) => object)): Change =>
  situation((found) => {
    const made = typeof change === 'function' ? (change as (found: Situation) => object)(found) : change;
    return { context: { ...found.context, ...made } };
  });

const action = (change: (found: FlowAction, of: Situation) => object, index = 0): Change =>
  document((of) => ({
    actions: of.context.actions.map((one, at) => (at === index ? { ...one, ...change(one, of) } : one)),
  }));

const earlier = (email: string) => ({ userId: email, name: 'E', email, reason: 'x', date: 1 });
const byDeputy = (email: string) => [{ flowActionId: 'a2', userId: 'u2', evidence: { deputy: { email } } }];
const ascii = (email: string) => email.replace('bücher', 'xn--bcher-kva');

/** Ways into each case, each of which fits together with those of the others. */
const CASES: { readonly [fault in DeputyFault]: readonly Change[] } = {
  forbidden: [situation(() => ({ refuses: true }))],
  hidden: [
    ...['FlowConcluded', 'Concluded', 'Refused', 'Canceled', 'Expired', 'Deleted', ''].map((state) =>
      situation(() => ({ state })),
    ),
    document({ disableNotifications: true }),
    document({ startedQuietly: true }),
    document({ accepted: [TURN] }),
    ...['Created', 'Completed', 'Refused', 'Skipped'].map((status) => action(() => ({ status }))),
    action(({ user }) => ({ user: { ...user, email: null } })),
    action(({ user }) => ({ user: { ...user, email: 'another@example.org' } })),
  ],
  person: [
    action(() => ({ allowElectronicSignature: false })),
    ...['Sms', 'Whatsapp', 'AuthenticatorApp'].map((one) => action(() => ({ confirmations: [one] }))),
    action(() => ({ disableEmailAuthentication: true })),
    situation(() => ({ demands: true })),
  ],
  document: [
    action(() => ({ initialsMode: 'Required' })),
    document({ requireReading: true }),
    action(() => ({ fields: [{ id: 'f', type: 'Text', isRequired: false }] })),
  ],
  shared: [action(() => ({ user: { ...person('u2'), email: 'u1@example.org' } }), 1)],
  sender: [
    situation(({ deputy }) => ({ sender: deputy.email })),
    situation(({ deputy }) => ({ sender: deputy.email.toUpperCase() })),
    situation(({ deputy }) => ({ sender: deputy.email.replace('@', '+x@') })),
    situation(({ deputy }) => ({ sender: ascii(deputy.email) })),
    // A user whom nobody knows any more.
    situation(() => ({ sender: undefined })),
  ],
  'other-name': ['Bo', 'lou', ''].map((shownName) => situation(() => ({ shownName }))),
  outside: [
    situation(({ deputy }) => ({ at: deputy.until })),
    situation(({ deputy }) => ({ at: deputy.until + 1e12 })),
    situation(({ deputy }) => ({ at: deputy.from - 1 })),
    situation(({ deputy }) => ({ deputy: { ...deputy, until: deputy.from } })),
    situation(({ deputy }) => ({ deputy: { ...deputy, until: Number.NaN } })),
  ],
  // Hidden before; the step finds it.
  over: [],
  'not-permitted': [
    action(() => ({ allowPassingOn: false })),
    action(() => ({ allowPassingOn: undefined })),
    action(() => ({ type: 'SignRule' })),
  ],
  'in-progress': [document({ reservations: [{ ...TURN, expiresAt: 1e13 }] })],
  'same-person': ['u1@example.org', 'U1@Example.ORG', 'u1+lou@example.org'].map((email) =>
    situation(({ deputy }) => ({ deputy: { ...deputy, email, asciiEmail: email } })),
  ),
  'had-it': [
    (email: string) => email,
    (email: string) => email.toUpperCase(),
    (email: string) => email.replace('@', '+x@'),
    ascii,
  ].map((spelled) =>
    action(({ passedOn = [] }, { deputy }) => ({ passedOn: [...passedOn, earlier(spelled(deputy.email))] })),
  ),
  // Of the exact mailbox of the person, the turn would be `shared`.
  'of-the-flow': [
    action((_, { deputy }) => ({ user: { ...person('u3'), email: deputy.email.replace('@', '+2@') } }), 2),
    action(
      (_, { deputy }) => ({
        user: { ...person('u3'), email: deputy.email.replace('@', '+2@').toUpperCase() },
      }),
      2,
    ),
    action(
      (_, { deputy }) => ({ user: { ...person('u3'), email: ascii(deputy.email.replace('@', '+2@')) } }),
      2,
    ),
    document(({ deputy }) => ({ made: byDeputy(deputy.email) })),
    document(({ deputy }) => ({ made: byDeputy(deputy.email.replace('@', '+2@')) })),
    document(({ context, deputy }) => ({ accepted: [...context.accepted, ...byDeputy(deputy.email)] })),
  ],
};

const outcome = ({ state, context, deputy, shownName, refuses, demands, sender, at }: Situation) =>
  deputyFault(
    { state, context },
    TURN as never,
    { person: 'u1@example.org', deputy, shownName },
    { refusesDeputies: refuses, demandsCertificate: demands, sender, at },
  );

test('each case of the table of deputies refuses in each of its ways, and of several the first one', async (t) => {
  const names = (await readCases('actors/portal/deputies/deputy-rules.ts')) as readonly DeputyFault[];
  t.deepEqual(names, Object.keys(CASES) as DeputyFault[]);
  const asked = names.filter((name) => CASES[name].length > 0);
  for (let bits = 0; bits < 2 ** asked.length; bits += 1) {
    const set = asked.filter((_name, at) => (bits >> at) % 2 === 1);
    const most = Math.max(1, ...set.map((name) => CASES[name].length));
    for (let way = 0; way < most; way += 1) {
      // The deputy comes first: other ways take the address. Earlier rows come last.
      const order = [...set].reverse().sort((one, other) => rank(one) - rank(other));
      const ways = order.map((name) => CASES[name][way % CASES[name].length] as Change);
      const found = outcome(ways.reduce((of, change) => change(of), allowed));
      t.is(found, set[0], `${set.join()} ${way}`);
    }
  }
});

const rank = (name: DeputyFault) => (name === 'same-person' ? 0 : 1);

test('the last rows are those of the step, which asks them again', async (t) => {
  const names = await readCases('actors/portal/deputies/deputy-rules.ts');
  const own = (await readCases('machines/portal/documents/deputy-acts.ts')) as readonly ActingFault[];
  t.deepEqual(names.slice(-own.length), own as readonly string[]);
  const stepOf = (found: Situation) =>
    actingFault(found.context, TURN as never, found.deputy, { at: found.at });
  t.is(stepOf(action(() => ({ status: 'Completed' }))(allowed)), 'over');
  for (const name of own) {
    for (const change of CASES[name]) t.is(stepOf(change(allowed)), name);
    for (const change of CASES[name])
      for (const decide of [sign, approve]) {
        const { context, deputy, at } = change(
          decide === approve ? action(() => ({ type: 'Approver' }))(allowed) : allowed,
        );
        const evidence = { deputy: { ...deputy, reason: 'x', person: { name: 'Ana' } } };
        const message = { ...TURN, at, id: 'id', evidence, marks: [], version: 1 };
        t.is(decide(context, message as never), undefined, name);
      }
  }
});

test('what is allowed: the first moment, approvals, optional initials, what was handed on', (t) => {
  const others: readonly Change[] = [
    (found) => found,
    situation(({ deputy }) => ({ at: deputy.from })),
    situation(({ deputy }) => ({ at: deputy.until - 1 })),
    action(() => ({ type: 'Approver', allowElectronicSignature: false })),
    action(() => ({ initialsMode: 'Optional' })),
    action(() => ({ passedOn: [earlier('bo@example.org')] })),
    document({ reservations: [{ ...TURN, expiresAt: AT }] }),
    situation(({ deputy }) => ({ deputy: { ...deputy, email: 'u1@example.org.test' } })),
    // Sent by an application.
    situation(() => ({ sender: null })),
    situation(({ deputy }) => ({ shownName: deputy.name })),
  ];
  for (const [at, change] of others.entries()) t.is(outcome(change(allowed)), undefined, `${at}`);
  const spellings = [
    'lou@bücher.example',
    'LOU@BÜCHER.example',
    'lou@xn--bcher-kva.example',
    'lou@ｂücher.example',
  ];
  for (const spelled of spellings)
    t.is(outcome(action(() => ({ user: { ...person('u3'), email: spelled } }), 2)(allowed)), 'of-the-flow');
  t.is(outcome(action(() => ({ type: 'Another' }))(allowed)), 'not-permitted', 'what nothing names');
});

test('nobody hands on to a mailbox whose deputy has acted, however it is spelled', (t) => {
  const { context, deputy } = allowed;
  const { email: acting, asciiEmail } = deputy;
  const [act] = byDeputy(acting);
  const document = { ...context, made: [{ ...act, evidence: { deputy: { email: acting, asciiEmail } } }] };
  const fault = (email: string, address?: string) =>
    passingFault(document as never, TURN as never, { name: 'Lou', email, address }, AT);
  for (const email of [acting, asciiEmail, acting.toUpperCase()]) {
    t.is(fault(email), 'of-the-flow', email);
    t.is(fault(email.replace('@', '+2@')), 'of-the-flow', email);
  }
  t.is(fault('lou@ｂücher.example', 'lou@bücher.example'), 'of-the-flow', 'as the caller has written it');
  t.is(fault('lou@other.example'), undefined);
});
