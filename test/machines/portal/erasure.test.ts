/** Erasure of a person: tests of each row of the tables, and of texts that tell of the person or of somebody else. */
import test from 'ava';
import { erasureMachine } from '../../../machines/portal/accounts/erasure.ts';
import type { DocumentContext, DocumentState } from '../../../machines/portal/documents/document-context.ts';
import {
  type ErasureCase,
  erasureCase,
  knownIn,
  tellsOf,
} from '../../../machines/portal/documents/erasure.ts';
import { attempt, initialContext, readTable } from '../table.ts';

const STATES: {
  readonly [state in DocumentState]: readonly [acts: ErasureCase, reads: ErasureCase, kept: ErasureCase];
} = {
  Pending: ['InvalidDocumentStatus', 'InvalidDocumentStatus', 'InvalidDocumentStatus'],
  FlowConcluded: ['InvalidDocumentStatus', 'InvalidDocumentStatus', 'InvalidDocumentStatus'],
  Concluded: ['erased-with-files', 'erased', 'kept'],
  Refused: ['erased-with-files', 'erased', 'erased-with-files'],
  Canceled: ['erased-with-files', 'erased', 'erased-with-files'],
  Expired: ['erased-with-files', 'erased', 'erased-with-files'],
  Deleted: ['erased', 'erased', 'erased'],
};
const FREE = { isHeld: false, isBusy: false, keptFor: null };

for (const [state, [acts, reads, kept]] of Object.entries(STATES))
  test(`a person in a document that is ${state} has the outcome of the table`, (t) => {
    t.is(erasureCase(state, 'acts', FREE), acts);
    t.is(erasureCase(state, 'reads', FREE), reads);
    t.is(erasureCase(state, 'acts', { ...FREE, keptFor: 'LegalClaims' }), kept);
    t.is(erasureCase(state, 'reads', { ...FREE, keptFor: 'LegalObligation' }), reads);
    for (const role of ['acts', 'reads'] as const) {
      for (const keptFor of ['LegalClaims', null] as const)
        t.is(erasureCase(state, role, { isHeld: true, isBusy: false, keptFor }), 'LegalHold');
      t.is(erasureCase(state, role, { ...FREE, isBusy: true }), 'InvalidDocumentStatus');
    }
  });

test('a state that the table does not name is refused', (t) => {
  for (const state of ['', 'Archived', 'constructor', 'toString'])
    t.is(erasureCase(state, 'acts', FREE), 'InvalidDocumentStatus', state);
});

const user = (id: string, name: string | null, email: string | null) => ({ id, name, email, phone: null });
const action = (one: object, more = {}) => ({ id: 'a', user: one, ruleUsers: [], ...more });
const known = (more: object) =>
  knownIn(
    { actions: [], made: [], observers: [], notifiedEmails: [], ...more } as unknown as DocumentContext,
    (email) => email.toLowerCase() === 'ana@example.org',
  );
const ANA = user('u1', 'Ana Silva', 'Ana@Example.org');

test('a person is found in each role, and the one that acts counts', (t) => {
  t.like(known({ actions: [action(ANA)] }), { role: 'acts', people: ['u1'], names: ['Ana Silva'] });
  t.like(known({ actions: [{ ...action({}), user: null, ruleUsers: [ANA] }] }), { role: 'acts' });
  const passedOn = [{ userId: 'u1', name: 'Ana Silva', email: 'ana@example.org' }];
  t.like(known({ actions: [action(user('u2', 'Bob', 'bob@example.org'), { passedOn })] }), {
    role: 'acts',
    people: ['u1'],
  });
  const deputy = { ...user('u5', 'Ana', 'ana@example.org'), person: user('u2', 'Bob', 'bob@example.org') };
  t.like(known({ made: [{ userId: 'u2', evidence: { deputy, typedName: 'Ana' } }] }), {
    role: 'acts',
    people: ['u5'],
  });
  t.like(known({ observers: [{ id: 'o', user: ANA }] }), { role: 'reads', people: ['u1'] });
  t.like(known({ notifiedEmails: ['ANA@example.org'] }), { role: 'reads', emails: ['ANA@example.org'] });
  t.like(known({ actions: [action(ANA)], observers: [{ id: 'o', user: { ...ANA, id: 'u7' } }] }), {
    role: 'acts',
    people: ['u1', 'u7'],
  });
  for (const email of ['ana+x@example.org', 'mariana@example.org', 'ana@example.org.uk', null])
    t.is(known({ actions: [action(user('u1', 'Ana Silva', email))] }), undefined, String(email));
});

test('a name that two people of a document have tells of neither, and one that the person typed tells of her', (t) => {
  const both = { actions: [action(ANA), action(user('u2', 'Ana Silva', 'other@example.org'))] };
  t.deepEqual(known(both)?.names, []);
  const typed = [{ userId: 'u1', evidence: { typedName: 'A. Silva', authenticatedEmail: null } }];
  t.deepEqual(known({ actions: [action(ANA)], made: typed })?.names, ['Ana Silva', 'A. Silva']);
});

test('a line is erased that tells of the person by id, address or name, and no other one', (t) => {
  const tells = tellsOf({ role: 'acts', people: ['u1'], names: ['Ana'], emails: ['ana@example.org'] });
  for (const line of [
    { message: 'x', data: { userId: 'u1' } },
    { message: 'An e-mail to ana@example.org was requested.' },
    { message: 'Bob handed on to ANA@example.org.' },
    { message: 'Refused by Ana.' },
    { message: "Ana's turn" },
    { message: 'x', data: { userId: 'u2', to: 'ana@example.org' } },
    { message: 'x', data: { detail: 'code: <ana@example.org> unknown' } },
  ])
    t.true(tells(line), JSON.stringify(line));
  for (const line of [
    { message: 'Mariana opened the document.' },
    { message: 'An e-mail to mariana@example.org was requested.' },
    { message: 'An e-mail to ana@example.org.uk was requested.' },
    { message: 'An e-mail to x.ana@example.org was requested.' },
    { message: 'Analysis' },
    { message: 'Concluded.', data: { userId: 'u11', ipAddress: '192.0.2.1' } },
    { message: 'Concluded.', data: {} },
    { message: 'Concluded.' },
  ])
    t.false(tells(line), JSON.stringify(line));
});

test('the table of erasures and the machine agree', async (t) => {
  const table = await readTable('machines/portal/accounts/erasure.ts');
  const context = initialContext(erasureMachine, { organizationId: 'o', person: 'p' } as never);
  const progress = { type: 'PROGRESS', at: 1, documents: [], mails: 0 };
  for (const from of ['Running', 'Done'])
    for (const [next, words] of [
      [{ view: 'mails', after: null }, 'more is left'],
      [null, 'nothing is left'],
    ] as const) {
      const row = table.find((one) => one.from === from && one.condition === words);
      const outcome = attempt(erasureMachine, from, context, { ...progress, next });
      t.is(outcome.accepted, row !== undefined);
      t.deepEqual([outcome.to, outcome.effects], [row?.to ?? from, row?.effects ?? []]);
    }
});
