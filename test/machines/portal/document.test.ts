import test from 'ava';
import {
  documentMachine,
  signatureAdded,
  signatureFailed,
} from '../../../machines/portal/documents/document.ts';
import type {
  AcceptedSignature,
  DocumentContext,
  DocumentInput,
  DocumentMessage,
  Reservation,
} from '../../../machines/portal/documents/document-context.ts';
import { cancel, expire } from '../../../machines/portal/documents/document-lifecycle.ts';
import { begun } from '../../../machines/portal/documents/document-reservations.ts';
import { record } from '../../../machines/portal/documents/document-trail.ts';
import type { DocumentField } from '../../../machines/portal/field-values.ts';
import type { FlowAction } from '../../../machines/portal/portal-types.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';
import { documentInput, person, plan } from './document-harness.ts';

const blob = (letter: string) => ({ sha256: letter.repeat(64), length: 9 });

const input: DocumentInput = documentInput({
  observers: [{ id: 'o1', user: person('o1') }],
  actions: [
    plan('a1', { step: 1, user: person('u1'), allowElectronicSignature: true }),
    plan('a2', { step: 2, user: person('u2') }),
  ],
});

const accepted = {
  id: 's1',
  flowActionId: 'a1',
  userId: 'u1',
  kind: 'electronic',
  acceptedAt: 5,
  signingTime: 1000,
  fieldName: 'Signature_a1_s1',
  evidence: null,
  evidenceSha256: null,
  marks: [],
  image: null,
  state: null,
  value: null,
  isQuiet: false,
} as unknown as AcceptedSignature;

const reservation = {
  id: 'r1',
  flowActionId: 'a1',
  userId: 'u1',
  expiresAt: 9_000_000,
  base: 'a'.repeat(64),
  signingTime: 1000,
  fieldName: 'Signature_a1_r1',
  marks: [],
  state: blob('c'),
  certificate: 'd'.repeat(64),
} as unknown as Reservation;

/** One message of every type, complete enough for each transition. */
const MESSAGES: { readonly [Type in DocumentMessage['type']]: object } = {
  SIGN: {
    id: 's2',
    flowActionId: 'a1',
    userId: 'u1',
    evidence: {},
    evidenceSha256: 'x',
    marks: [],
    image: null,
    isQuiet: false,
  },
  APPROVE: { flowActionId: 'a1', userId: 'u1', evidence: null, evidenceSha256: null, isQuiet: false },
  REFUSE_TURN: { flowActionId: 'a1', userId: 'u1', reason: 'No.' },
  PASS_ON: { flowActionId: 'a1', userId: 'u1', version: 1, to: person('u9'), reason: 'Leave.' },
  RESERVE: { id: 'r2', flowActionId: 'a1', userId: 'u1', marks: [] },
  BEGUN: { id: 'r1', state: blob('c'), certificate: 'd'.repeat(64) },
  GIVE_UP: { id: 'r1' },
  COMPLETE: { id: 'r1', value: 'AA==', evidence: null, evidenceSha256: null, isQuiet: false },
  RESERVATION_OVER: {},
  SIGNATURE_ADDED: { id: 's1', output: blob('b'), certificate: 'd'.repeat(64) },
  SIGNATURE_FAILED: { id: 's1', code: 'pool.worker-lost', message: 'Lost.', isFinal: false },
  CONCLUDED: { output: null, tellParticipants: true },
  CONCLUSION_FAILED: { code: 'verification.failed', message: 'Bad.' },
  TRY_AGAIN: {},
  RETRY: {},
  REFUSE: { by: { id: 'p', type: 'Application', name: 'App' }, reason: 'No.' },
  CANCEL: { by: { id: 'p', type: 'Application', name: 'App' }, reason: 'No.' },
  EXPIRE: {},
  DELETE: { action: 'DeletedByUserOrApplication' },
  HOLD: { by: { id: 'p', type: 'Application', name: 'App' }, reason: 'No.' },
  ERASE: { people: [], emails: [], by: { id: 'e', withFiles: false }, withTexts: false, erasure: null },
  PLAN_DELETION: {
    plan: { rule: { folderId: null, status: null, days: 1 }, at: 1, pass: 1 },
  },
  NEW_VERSION: {
    name: 'Second',
    file: { ...input.file, blob: blob('e') },
    format: 'Pades',
    parts: [],
    quietStart: false,
    tellParticipants: true,
    marks: [],
  },
  EDIT_FLOW: {
    change: {
      added: [],
      edited: [
        { flowActionId: 'a2', email: 'new@example.org' },
        { flowActionId: 'a1', email: 'u@example.org' },
      ],
      deleted: [],
      addedObservers: [],
      editedObservers: [],
      deletedObservers: [],
    },
  },
  SET_NOTIFIED_EMAILS: { emails: ['a@example.org'] },
  MOVE: { folderId: 'f' },
  REMIND: { flowActionId: 'a1' },
  SET_REMINDERS: { schedule: { everyDays: 3, maximum: 5, daysBeforeExpiry: [1] } },
  REMINDERS_DUE: {},
  RECORD: {
    action: 'downloaded',
    principal: { by: 'App', userId: null, ipAddress: '192.0.2.1', userAgent: null },
    detail: null,
    flowActionId: null,
    emailAddress: null,
  },
};

const context = initialContext(documentMachine, input) as DocumentContext;
const [first, second] = context.actions as [FlowAction, FlowAction];

const VERIFIED = 'so, and it is verified';

const DAY = 86_400_000;
const failed = { code: 'x', message: 'x', since: 1, nextTryAt: 2, failures: 1 };

/** The document as each row of the table supposes it, by message and condition. */
function supposed(from: string, event: string, condition: string): DocumentContext {
  const last = ['the flow is done', VERIFIED].includes(condition) ? { actions: [first] } : {};
  switch (event) {
    case 'APPROVE': {
      const approver = { ...first, type: 'Approver' } as FlowAction;
      return { ...context, actions: condition === 'the flow is done' ? [approver] : [approver, second] };
    }
    case 'REFUSE_TURN': {
      if (condition === 'it stops the flow') return context;
      const users = ['u1', 'u3'].map((id) => ({ ...person(id), ...untouched }));
      const rule = { ...first, type: 'SignRule', user: null, ruleUsers: users } as FlowAction;
      return { ...context, actions: [{ ...rule, allowRuleFlowToContinueIfRefused: true }, second] };
    }
    case 'PASS_ON':
      return { ...context, actions: [{ ...first, allowPassingOn: true }, second] };
    case 'BEGUN':
    case 'GIVE_UP':
    case 'COMPLETE':
      return { ...context, reservations: [reservation] };
    case 'SIGNATURE_ADDED':
    case 'SIGNATURE_FAILED':
      return { ...context, ...last, accepted: [accepted], applying: 's1' };
    case 'TRY_AGAIN':
    case 'RETRY':
      if (from === 'FlowConcluded') return { ...context, processingError: failed };
      return { ...context, accepted: [accepted], processingError: failed };
    case 'EXPIRE':
      return condition === 'a signature is' ? { ...context, accepted: [accepted] } : context;
    case 'RESERVATION_OVER':
      return context;
    case 'REMINDERS_DUE': {
      const reminders = { everyDays: 1, maximum: 1, daysBeforeExpiry: [] };
      return {
        ...context,
        actions: [{ ...first, pendingDate: -DAY }, second],
        reminders,
        remindersFrom: -DAY,
      };
    }
    default:
      return context;
  }
}

const untouched = {
  signatureDate: null,
  isElectronic: null,
  refusalDate: null,
  hasRefused: false,
  refusalReason: null,
};

test('the document table and its machine agree in every state, on every message, under every condition', async (t) => {
  const table = await readTable('machines/portal/documents/document.ts');
  const { states, events } = declared(documentMachine);
  t.deepEqual([...states].sort(), [...new Set(table.flatMap((row) => [row.from, row.to]))].sort());
  t.deepEqual([...events].sort(), Object.keys(MESSAGES).sort());
  for (const from of states) {
    for (const type of events) {
      const message = { type, at: 8000, ...MESSAGES[type as DocumentMessage['type']] };
      const rows = table.filter((row) => row.from === from && row.event === type);
      for (const row of rows) {
        const complete = {
          ...message,
          ...(row.condition === VERIFIED && { concluded: { tellParticipants: true } }),
          ...(row.condition === 'the person acts in it' && { by: { id: 'e', withFiles: true } }),
          ...(row.condition === 'of what an event tells' && { action: 'opened' }),
        };
        const outcome = attempt(documentMachine, from, supposed(from, type, row.condition), complete);
        const said = `${from} × ${type} ${row.condition}`;
        t.true(outcome.accepted, `${said} is accepted`);
        t.deepEqual([outcome.to, outcome.effects], [row.to, row.effects], said);
      }
      if (rows.length > 0) continue;
      const outcome = attempt(documentMachine, from, supposed(from, type, ''), message);
      t.false(outcome.accepted, `${from} × ${type} has no row and must change nothing`);
    }
  }
});

test('a document that its person has left is canceled only while nobody has acted on it', (t) => {
  const left = { ...MESSAGES.CANCEL, type: 'CANCEL', untouched: 'a1' };
  const isCanceled = (more: object) =>
    attempt(documentMachine, 'Pending', { ...context, ...more }, left).accepted;
  t.true(isCanceled({}));
  t.false(isCanceled({ accepted: [accepted] }));
  t.false(isCanceled({ made: [{}] }));
  t.false(isCanceled({ actions: [{ ...first, status: 'Completed' }, second] }));
  t.false(isCanceled({ actions: [second] }));
});

test('a message to a document is decided once, for any number of possible target states', (t) => {
  for (const [from, type, decide] of [
    ['Pending', 'SIGNATURE_ADDED', signatureAdded],
    ['Refused', 'EXPIRE', expire],
    ['Pending', 'CANCEL', cancel],
  ] as const) {
    const context = supposed(from, type, '') as DocumentContext;
    const reads = (work: (message: never) => unknown): number => {
      let count = 0;
      const message = {
        type,
        ...MESSAGES[type],
        get at() {
          count += 1;
          return 8000;
        },
      };
      work(message as never);
      return count;
    };
    const once = reads((message) => (decide as (...given: unknown[]) => unknown)(context, message));
    t.true(once > 0, `${type} reads its time`);
    t.is(
      reads((message) => attempt(documentMachine, from, context, message)),
      once,
      `${from} × ${type}`,
    );
  }
});

test('a reminder of all pending actions is refused without a pending action', (t) => {
  const remind = { type: 'REMIND', flowActionId: null, at: 1 };
  t.deepEqual(attempt(documentMachine, 'Pending', context, remind).effects, ['announce', 'notify']);
  const actions = context.actions.map((action) => ({ ...action, status: 'Completed' }));
  t.false(attempt(documentMachine, 'Pending', { ...context, actions }, remind).accepted);
});

/** A field of the first action. */
const field = (id: string, isRequired: boolean) =>
  ({ id, name: id, type: 'Text', isRequired }) as unknown as DocumentField;

test('values that were checked against other fields than the current ones are refused', (t) => {
  const withFields = (...fields: readonly DocumentField[]): DocumentContext => ({
    ...context,
    actions: [{ ...first, fields }, second],
  });
  const value = (fieldId: string) => ({ fieldId, name: fieldId, value: 'x' });
  for (const type of ['SIGN', 'RESERVE'] as const) {
    const isAccepted = (document: DocumentContext, values?: readonly object[]) => {
      const message = { type, at: 8000, ...MESSAGES[type], ...(values !== undefined && { values }) };
      return attempt(documentMachine, 'Pending', document, message).accepted;
    };
    t.true(isAccepted(withFields(field('f1', true), field('f2', false)), [value('f1')]), type);
    t.true(isAccepted(withFields(field('f1', false)), []), type);
    t.false(isAccepted(withFields(field('f2', false)), [value('f1')]), `${type}: the field was removed`);
    t.false(isAccepted(withFields(field('f1', true)), []), `${type}: the field has become required`);
    t.false(isAccepted(withFields(field('f1', true))), `${type}: there were no fields`);
    t.false(isAccepted(context, [value('f1')]), `${type}: all fields were removed`);
  }
});

test('a signature that was made for another document, or after signatures that wait, is not taken', (t) => {
  const { updateDate, current, signatures } = context;
  const base = { updateDate, current, signatures };
  const outcome = (document: DocumentContext, changed: object = {}, type: 'SIGN' | 'COMPLETE' = 'SIGN') => {
    const result = { output: blob('b'), certificate: 'd'.repeat(64) };
    const made = { base: { ...base, ...changed }, signingTime: 7000, result };
    return attempt(documentMachine, 'Pending', document, { type, at: 8000, ...MESSAGES[type], made });
  };
  const taken = outcome(context);
  t.true(taken.accepted);
  t.deepEqual(taken.effects, ['announce', 'notify']);
  t.like(taken.context, { current: blob('b'), accepted: [], applying: null, updateDate: 8000 });
  t.is((taken.context as DocumentContext).made[0]?.signingTime, 7000);
  t.false(outcome(context, { updateDate: updateDate - 1 }).accepted);
  const started = { ...context, reservations: [reservation] };
  const completed = outcome(started, {}, 'COMPLETE');
  t.deepEqual(completed.effects, ['announce', 'notify']);
  t.like(completed.context, { current: blob('b'), accepted: [], applying: null, updateDate: 8000 });
  t.false(outcome(started, { updateDate: updateDate - 1 }, 'COMPLETE').accepted);
  t.false(outcome(context, { current: blob('c') }).accepted);
  t.false(outcome(context, { signatures: blob('c') }).accepted);
  // Of another action: a signature of its own would be refused for the turn, whatever was made.
  const waits = { id: 's0', flowActionId: 'a2', userId: 'u2' };
  const other = { ...accepted, ...waits } as DocumentContext['accepted'][number];
  t.false(
    outcome({ ...context, accepted: [other], applying: 's0' }).accepted,
    'the other one is being added',
  );
  const waiting = { ...context, accepted: [other], processingError: failed };
  t.false(outcome(waiting).accepted, 'the other one waits for its retry');
  t.false(outcome({ ...context, accepted: [other] }).accepted, 'the other one comes first');
});

test('the files of a failed signature do not become attachments', (t) => {
  const attachment = (id: string) => ({ id, file: input.file, isPrivate: true, creationDate: 5 });
  const values = [{ fieldId: 'f1', name: 'f1', value: 'a.pdf', attachment: attachment('at2') }];
  const document: DocumentContext = {
    ...context,
    attachments: [attachment('at1'), attachment('at2')],
    accepted: [{ ...accepted, values }],
    applying: 's1',
  };
  const failure = { id: 's1', at: 8000, code: 'x', message: 'x' };
  const after = (isFinal: boolean) =>
    signatureFailed(document, { type: 'SIGNATURE_FAILED', ...failure, isFinal })?.context.attachments.map(
      ({ id }) => id,
    );
  t.deepEqual(after(false), ['at1', 'at2']);
  t.deepEqual(after(true), ['at1']);
});

test('a new version whose tags do not fit the flow of now is not accepted', (t) => {
  const version = (tagged: object) => {
    const message = { type: 'NEW_VERSION', at: 8000, ...MESSAGES.NEW_VERSION, tagged };
    return attempt(documentMachine, 'Pending', document, message).accepted;
  };
  const document: DocumentContext = {
    ...context,
    actions: [{ ...first, fields: [field('edited', false)] }, second],
  };
  const of = (flowActionId: string, ...fields: readonly DocumentField[]) => ({
    actions: [{ flowActionId, marks: [], fields }],
    covers: [],
  });
  t.true(version(of('a2', field('city', false))));
  // An edit of the flow has removed the action, or added a field of this name.
  t.false(version(of('gone', field('city', false))));
  t.false(version(of('a2', field('edited', false))));
});

test('what was covered, and whether the start was quiet, is said of one version alone', (t) => {
  const covers = [{ pageNumber: 1, topLeftX: 1, topLeftY: 1, width: 10, height: 10 }];
  const document: DocumentContext = { ...context, covers, startedQuietly: true };
  const message = { type: 'NEW_VERSION', at: 8000, ...MESSAGES.NEW_VERSION, quietStart: false };
  t.like(attempt(documentMachine, 'Pending', document, message).context, {
    covers: [],
    startedQuietly: false,
  });
});

test('openings of one day are one line of the audit trail for each address', (t) => {
  const opened = {
    type: 'RECORD',
    action: 'opened',
    detail: null,
    flowActionId: null,
    emailAddress: null,
  } as const;
  const from = (ipAddress: string, userId = 'a') => ({
    type: 'User',
    userId,
    by: 'Ana',
    ipAddress,
    userAgent: null,
  });
  let document = initialContext(documentMachine, documentInput()) as DocumentContext;
  const lines: boolean[] = [];
  for (const [principal, at] of [
    [from('192.0.2.1'), 1],
    [from('192.0.2.1'), 2],
    [from('192.0.2.2'), 3],
    [from('192.0.2.2'), 4],
    [from('192.0.2.2', 'b'), 5],
    [from('192.0.2.2'), DAY],
  ] as const) {
    const made = record(document, { ...opened, principal, at } as never);
    lines.push(made !== undefined);
    document = made?.context ?? document;
  }
  t.deepEqual(lines, [true, false, true, false, true, true]);
  t.is(document.trail?.lines, 4);
});

test('a second start with a certificate leaves that of others, and ends the earlier one of the same turn', (t) => {
  const start = (id: string, userId: string, state: { sha256: string; length: number } | null) =>
    ({
      id,
      flowActionId: 'f',
      userId,
      marks: [],
      signingTime: 0,
      expiresAt: 9,
      base: 'b',
      state,
    }) as never;
  const ready = { sha256: 'a', length: 1 };
  const reserved = attempt(
    documentMachine,
    'Pending',
    { ...context, reservations: [reservation, { ...reservation, id: 'unready', state: null }] },
    { type: 'RESERVE', at: 8000, ...MESSAGES.RESERVE },
  ).context as DocumentContext;
  t.deepEqual(
    reserved.reservations.map(({ id }) => id),
    ['r1', 'r2'],
    'the earlier start can be completed until the new one is ready',
  );
  const document = {
    ...(initialContext(documentMachine, documentInput()) as DocumentContext),
    reservations: [start('first', 'ana', ready), start('other', 'bob', ready), start('second', 'ana', null)],
  };
  const left = begun(document, {
    type: 'BEGUN',
    id: 'second',
    state: ready,
    certificate: 'c',
    at: 1,
  } as never)?.context;
  t.deepEqual(
    left?.reservations.map(({ id }) => id),
    ['other', 'second'],
  );
});
