/** Every case of the closed table of `machines/portal/documents/passing-on.ts`, alone and with each set of the others. */
import test from 'ava';
import { MAX_PASSED_ON } from '../../../contracts/portal/signing/passing-on.ts';
import { documentMachine } from '../../../machines/portal/documents/document.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { type PassingFault, passingFault } from '../../../machines/portal/documents/passing-on.ts';
import type { FlowAction, Participant } from '../../../machines/portal/portal-types.ts';
import { attempt, initialContext, readCases } from '../table.ts';
import { documentInput, person, plan } from './document-harness.ts';

const AT = 8000;
const TURN = { flowActionId: 'a1', userId: 'u1' } as const;

interface Situation {
  readonly document: DocumentContext;
  readonly to: Participant;
}

/** Nothing is against it. */
const allowed: Situation = {
  document: initialContext(
    documentMachine,
    documentInput({
      actions: [
        plan('a1', { user: { ...person('u1'), identifier: '1' }, allowPassingOn: true }),
        plan('a2', { step: 1, user: person('u2') }),
        plan('a3', { step: 1, type: 'ApproverRule', ruleUsers: [person('u3'), person('u4')] }),
      ],
    }),
  ) as DocumentContext,
  to: { ...person('u9'), identifier: '9' },
};

type Change = (situation: Situation) => Situation;

/** Changes the action that is handed on, and that with this index. */
const action =
  (change: (found: FlowAction, situation: Situation) => object, index = 0): Change =>
  (situation) => ({
    ...situation,
    document: {
      ...situation.document,
      actions: situation.document.actions.map((one, at) =>
        at === index ? ({ ...one, ...change(one, situation) } as FlowAction) : one,
      ),
    },
  });

const document =
  (change: object): Change =>
  (situation) => ({ ...situation, document: { ...situation.document, ...change } as DocumentContext });

const earlier = (id: string, email: string | null) => ({ userId: id, name: id, email, reason: 'x', date: 1 });

const chain = (count: number) =>
  action(({ passedOn = [] }) => ({
    passedOn: [
      ...Array.from({ length: count }, (_, at) => earlier(`e${at}`, `e${at}@example.org`)),
      ...passedOn,
    ],
  }));

const loud = (address: string | null) => address?.toUpperCase() ?? null;

/** Ways into each case, each of which fits together with those of the others. */
const CASES: { readonly [fault in PassingFault]: readonly Change[] } = {
  'not-permitted': [
    ...[undefined, false, null, 0, 1, 'true'].map((allowPassingOn) => action(() => ({ allowPassingOn }))),
    ...['SignRule', 'ApproverRule', 'Observer', '', undefined].map((type) => action(() => ({ type }))),
  ],
  'in-progress': [
    document({ reservations: [{ ...TURN, expiresAt: AT + 1, state: null }] }),
    document({ reservations: [{ ...TURN, expiresAt: AT + 1, state: {} }] }),
    document({ accepted: [{ ...TURN, kind: 'electronic' }] }),
    document({ accepted: [{ ...TURN, kind: 'certificate' }] }),
  ],
  'too-long': [chain(MAX_PASSED_ON), chain(MAX_PASSED_ON + 1)],
  'same-person': [
    action(({ user }, { to }) => ({ user: { ...user, email: loud(to.email) } })),
    action(({ user }, { to }) => ({ user: { ...user, identifier: to.identifier, email: null } })),
  ],
  'had-it': [
    action(({ passedOn = [] }, { to }) => ({ passedOn: [...passedOn, earlier('e', loud(to.email))] })),
  ],
  'of-the-flow': [
    action((_, { to }) => ({ user: { ...person('u2'), email: loud(to.email) } }), 1),
    action((_, { to }) => ({ user: { ...person('u2'), identifier: to.identifier } }), 1),
    action((_, { to }) => ({ status: 'Completed', user: { ...person('u2'), email: to.email } }), 1),
    action(
      ({ ruleUsers }, { to }) => ({ ruleUsers: [ruleUsers[0], { ...ruleUsers[1], email: to.email }] }),
      2,
    ),
  ],
};

function outcome({ document: context, to }: Situation) {
  const message = { type: 'PASS_ON', ...TURN, at: AT, version: context.version, to, reason: 'Leave.' };
  return {
    fault: passingFault(context, TURN as never, to, AT as never),
    ...attempt(documentMachine, 'Pending', context, message),
  };
}

/** All sets of the cases, each in the order of the table. */
function setsOf(names: readonly PassingFault[]): readonly (readonly PassingFault[])[] {
  return Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, at) => (bits >> at) % 2 === 1),
  );
}

test('each case of the table refuses in each of its ways, and of several the first one', async (t) => {
  const names = await readCases('machines/portal/documents/passing-on.ts');
  t.deepEqual(names, Object.keys(CASES));
  for (const set of setsOf(names as readonly PassingFault[])) {
    const most = Math.max(1, ...set.map((name) => CASES[name].length));
    for (let way = 0; way < most; way += 1) {
      const ways = set.map((name) => CASES[name][way % CASES[name].length] as Change);
      const { fault, accepted } = outcome(ways.reduce((situation, change) => change(situation), allowed));
      t.is(fault, set[0], `${set.join()} ${way}`);
      t.is(accepted, set.length === 0, `${set.join()} ${way}`);
    }
  }
});

test('what looks like a case and is none hands on: one person less, what is over, another turn', (t) => {
  const others = [
    chain(MAX_PASSED_ON - 1),
    action(() => ({ type: 'Approver' })),
    document({ reservations: [{ ...TURN, expiresAt: AT }] }),
    document({ reservations: [{ ...TURN, flowActionId: 'a2', expiresAt: AT + 1 }] }),
    document({ accepted: [{ ...TURN, userId: 'u2' }] }),
    action(({ user }) => ({ user: { ...user, identifier: null, email: null } })),
  ];
  for (const [at, change] of others.entries()) {
    const { fault, accepted, context } = outcome(change(allowed));
    t.deepEqual([fault, accepted], [undefined, true], `${at}`);
    const [handed] = (context as DocumentContext).actions;
    t.is(handed?.user?.id, allowed.to.id);
    t.is(handed?.passedOn?.at(-1)?.userId, 'u1' as Participant['id']);
  }
});

test('nothing is handed on out of turn, after the turn, or for another version of the document', (t) => {
  for (const status of ['Created', 'Completed', 'Refused', 'Skipped', 'Canceled', undefined])
    t.like(outcome(action(() => ({ status }))(allowed)), { fault: 'over', accepted: false }, `${status}`);
  t.like(outcome(action(() => ({ id: 'gone' }))(allowed)), { fault: 'over', accepted: false });
  t.like(outcome(action(() => ({ user: person('u8') }))(allowed)), { fault: 'over', accepted: false });
  const { document: context, to } = allowed;
  const message = { type: 'PASS_ON', ...TURN, at: AT, version: context.version + 1, to, reason: 'Leave.' };
  t.false(attempt(documentMachine, 'Pending', context, message).accepted);
});
