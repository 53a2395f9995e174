import test from 'ava';
import { transition } from 'xstate';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import { jobMachine } from '../../../machines/batch/job.ts';
import {
  CLEARED,
  cancelMessage,
  DIVERGED_MESSAGE,
  type JobInput,
  type JobMessage,
  RESTART_MESSAGE,
  TAKEN_OVER_MESSAGE,
  TERMINAL_STATES,
} from '../../../machines/batch/job-context.ts';

import { DOCUMENTED_ENDS, DOCUMENTED_STATES, DOCUMENTED_TRANSITIONS } from '../portal/document-states.ts';
import { assertAgreement, attempt, declared, initialContext } from '../table.ts';

const staged = { sha256: 'aa', length: 3, mtimeMs: 1, inode: '1:2', readAt: 2 };

/** One event of every type, complete enough for each transition. */
const EVENTS: Readonly<Record<JobMessage['type'], object>> = {
  CLAIM: {},
  CLAIM_REMOTE: {},
  CLEAR: {},
  FORGET_KEY: {},
  WEBHOOKS_ENQUEUED: {},
  CANCEL: { reason: 'wrong file' },
  SIGNED: { input: staged, signed: { sha256: 'bb', length: 4 } },
  DISPATCHED: { documentId: 'd-1', input: staged },
  CONCLUDED: { signed: { sha256: 'bb', length: 4 } },
  RELEASED: { outputFileName: 'a.signed.pdf' },
  FAIL: { code: 'pdf.malformed', message: 'Not a PDF.' },
  INPUT_AWAY: { message: 'bucket b does not exist' },
  RESTARTED: {},
  TIDIED: { diverged: false },
  TIDY_FAILED: { message: 'EACCES' },
  QUARANTINED: {},
  REMOTE_CANCEL_FAILED: { message: 'The remote document d-1 was not canceled (no answer).' },
  RETRIED: { jobId: 'j-2' },
};

const input = {
  fileName: 'a.pdf',
  originalPath: '/in/a.pdf',
  format: 'Pades',
  source: 'Upload',
  profileName: 'default',
  folder: null,
  parentJobId: null,
  order: 1,
  pathKey: 'k',
  seen: null,
  at: 1000,
  message: 'Uploaded.',
} as unknown as JobInput;

function withEvent(type: string): { type: string; at: number } {
  return { type, at: 2000, ...EVENTS[type as JobMessage['type']] };
}

function messages(from: string, type: string, more: object = {}): string[] {
  const snapshot = jobMachine.resolveState({
    value: from as never,
    context: initialContext(jobMachine, input) as never,
  });
  const [, actions] = transition(jobMachine, snapshot, { ...withEvent(type), ...more } as never);
  return actions
    .filter((action) => action.type === 'note')
    .map((action) => (action.params as { message: string }).message);
}

test('the job table and the job machine agree in every state and on every event', async (t) => {
  const context = initialContext(jobMachine, input);
  t.deepEqual([...declared(jobMachine).states].sort(), [...JOB_STATES, CLEARED].sort());
  const file = 'machines/batch/job.ts';
  await assertAgreement(t, { file, machine: jobMachine, events: EVENTS, contextOf: () => context });
});

test('every transition of a job writes its documented history line', (t) => {
  t.deepEqual(messages('Queued', 'CLAIM'), ['Claimed by worker.']);
  t.deepEqual(messages('Processing', 'SIGNED'), ['Signed.']);
  t.deepEqual(messages('Processing', 'DISPATCHED'), ['Dispatched to the remote portal (document d-1).']);
  t.deepEqual(messages('AwaitingSigner', 'CONCLUDED'), ['Remote document concluded; content downloaded.']);
  t.deepEqual(messages('Verifying', 'RELEASED'), ['Verified and published.']);
  t.deepEqual(messages('Verifying', 'RELEASED', { verified: false }), ['Published without verification.']);
  t.deepEqual(messages('Queued', 'CLAIM_REMOTE'), ['Claimed by worker.']);
  t.deepEqual(messages('Processing', 'FAIL'), ['Not a PDF.']);
  t.deepEqual(messages('Processing', 'INPUT_AWAY'), ['Waits for its input: bucket b does not exist.']);
  t.deepEqual(messages('Processing', 'INPUT_AWAY', { isAuthority: true, message: 'No answer' }), [
    'Waits for its time-stamp authority: No answer.',
  ]);
  t.deepEqual(messages('Verifying', 'RESTARTED'), [RESTART_MESSAGE]);
  t.deepEqual(messages('Verifying', 'RESTARTED', { takenOver: true }), [TAKEN_OVER_MESSAGE]);
  t.deepEqual(messages('Queued', 'CANCEL'), ['Operator canceled: wrong file.']);
  t.deepEqual(messages('Failed', 'RETRIED'), ['Retried as job j-2.']);
  t.deepEqual(messages('Completed', 'TIDIED'), []);
  t.deepEqual(messages('Completed', 'TIDY_FAILED', { message: 'It stays.' }), [
    'job.input-not-removed: It stays.',
  ]);
  t.deepEqual(messages('Completed', 'TIDIED', { diverged: true }), [DIVERGED_MESSAGE]);
});

test('a cancel reason is trimmed and loses one full stop, and an empty one counts as absent', (t) => {
  t.is(cancelMessage(null), 'Operator canceled.');
  t.is(cancelMessage('   '), 'Operator canceled.');
  t.is(cancelMessage(' done. '), 'Operator canceled: done.');
  t.is(cancelMessage('wait..'), 'Operator canceled: wait..');
});

test('a failed job keeps its reason, and a restarted one records the restart', (t) => {
  const snapshot = jobMachine.resolveState({
    value: 'Processing',
    context: initialContext(jobMachine, input) as never,
  });
  const [failed] = transition(jobMachine, snapshot, {
    type: 'FAIL',
    at: 5,
    code: 'pdf.malformed',
    message: 'Bad.',
  });
  t.like(failed.context, { errorMessage: 'Bad.', errorCode: 'pdf.malformed', updatedAt: 5 });
  const [restarted] = transition(jobMachine, snapshot, { type: 'RESTARTED', at: 6 });
  t.like(restarted.context, { errorMessage: RESTART_MESSAGE, errorCode: null, updatedAt: 6 });
});

test('a job that goes back to the queue is claimed as if for the first time', (t) => {
  const first = { ...initialContext(jobMachine, input), by: 'ana' };
  const queued = jobMachine.resolveState({ value: 'Queued', context: first as never });
  const [claimed] = transition(jobMachine, queued, { type: 'CLAIM_REMOTE', at: 5 });
  const [back, actions] = transition(jobMachine, claimed, {
    type: 'INPUT_AWAY',
    at: 6,
    message: 'It is away',
  });
  t.deepEqual(back.context as object, { ...first, updatedAt: 6 });
  t.deepEqual(
    actions.map(({ params }) => params),
    [{ message: 'Waits for its input: It is away.' }],
  );
});

test('a job whose file was signed and released in one task passes Verifying before its end', (t) => {
  const released = { type: 'RELEASED', outputFileName: 'a.signed.pdf', times: { verify: 2, output: 1 } };
  const snapshot = jobMachine.resolveState({
    value: 'Processing',
    context: initialContext(jobMachine, input) as never,
  });
  const signed = (release: object) =>
    transition(jobMachine, snapshot, {
      ...withEvent('SIGNED'),
      ms: 5,
      stageMs: 1,
      release,
    } as never);
  const asked = (actions: readonly { readonly type: string; readonly params?: unknown }[], type: string) =>
    actions.filter((action) => action.type === type).map(({ params }) => params as object);
  const [completed, published] = signed(released);
  t.is(completed.value, 'Completed');
  t.like(completed.context, { outputFileName: 'a.signed.pdf', untidy: true, endedAt: 2000 });
  t.deepEqual(completed.context.times, { stage: 1, sign: 5, verify: 2, output: 1 });
  t.deepEqual(asked(published, 'note'), [
    { message: 'Signed.', state: 'Verifying' },
    { message: 'Verified and published.' },
  ]);
  t.is(asked(published, 'tidy').length, 1);
  const [failed, actions] = signed({ type: 'FAIL', code: 'verification.failed', message: 'Wrong.' });
  t.is(failed.value, 'Failed');
  t.like(failed.context, { errorCode: 'verification.failed', untidy: true });
  t.like(asked(actions, 'quarantine')[0], { mayBePublished: true });
});

test('a completed job records that its input could not be removed', (t) => {
  const context = { ...(initialContext(jobMachine, input) as object), untidy: true };
  const completed = jobMachine.resolveState({ value: 'Completed', context: context as never });
  const [left] = transition(jobMachine, completed, { type: 'TIDY_FAILED', at: 5, message: 'EACCES' });
  t.like(left.context, { untidy: false, inputLeft: true });
  const [removed] = transition(jobMachine, completed, { type: 'TIDIED', at: 5, diverged: false });
  t.like(removed.context, { untidy: false, inputLeft: false });
});

test('canceling a job that waits for its signer sends the reason to the remote portal', (t) => {
  const context = { ...initialContext(jobMachine, input), remoteDocumentId: 'd-9' } as never;
  const snapshot = jobMachine.resolveState({ value: 'AwaitingSigner', context });
  const asked = (reason: string | null) =>
    transition(jobMachine, snapshot, { type: 'CANCEL', at: 5, reason })[1]
      .filter(({ type }) => type === 'cancelRemote')
      .map(({ params }) => params)
      .at(-1);
  t.like(asked('wrong person'), { documentId: 'd-9', reason: 'wrong person' });
  t.like(asked(null), { documentId: 'd-9', reason: 'Canceled by operator' });
});

test('a job is cleared only after its files are put away', (t) => {
  for (const from of ['Completed', 'Failed', 'Canceled']) {
    const context = initialContext(jobMachine, input) as object;
    t.false(attempt(jobMachine, from, { ...context, untidy: true }, withEvent('CLEAR')).accepted);
    t.is(attempt(jobMachine, from, context, withEvent('CLEAR')).to, CLEARED);
  }
});

test('an encrypted output is recorded with its own digest, and a plain one with none', (t) => {
  const context = initialContext(jobMachine, input) as never;
  const snapshot = jobMachine.resolveState({ value: 'Verifying', context });
  const released = { type: 'RELEASED', at: 9, outputFileName: 'a.signed.pdf.enc' } as const;
  const file = { sha256: 'cc', length: 41 };
  const [encrypted] = transition(jobMachine, snapshot, { ...released, encrypted: file });
  t.like(encrypted.context, { outputEncrypted: true, output: file, endedAt: 9 });
  const [plain] = transition(jobMachine, snapshot, released);
  t.like(plain.context, { outputEncrypted: false, output: null });
});

for (const { from, trigger, events, to, work } of DOCUMENTED_TRANSITIONS) {
  test(`the document's row "${from}, ${trigger}" leads to ${to}`, (t) => {
    const context = initialContext(jobMachine, input);
    for (const event of events) {
      const outcome = attempt(jobMachine, from, context, withEvent(event));
      t.true(outcome.accepted);
      t.is(outcome.to, to);
      for (const effect of work) t.true(outcome.effects.includes(effect), effect);
    }
  });
}

test('a job has the documented states and transitions alone', (t) => {
  t.deepEqual([...JOB_STATES].sort(), [...DOCUMENTED_STATES].sort());
  t.deepEqual([...TERMINAL_STATES].sort(), [...DOCUMENTED_ENDS].sort());
  const context = initialContext(jobMachine, input);
  for (const from of DOCUMENTED_STATES) {
    for (const event of Object.keys(EVENTS)) {
      const { accepted, to } = attempt(jobMachine, from, context, withEvent(event));
      if (!accepted || to === from || to === CLEARED) continue;
      const rows = DOCUMENTED_TRANSITIONS.filter((row) => row.from === from && row.to === to);
      t.true(
        rows.some((row) => row.events.some((name) => name === event)),
        `${from} becomes ${to} by ${event}`,
      );
    }
  }
});

test('a job with end notifications requests one in each of its ends and is not cleared before', (t) => {
  const announced = { ...initialContext(jobMachine, { ...input, webhooksPending: true }) };
  for (const [from, event] of [
    ['Verifying', 'RELEASED'],
    ['Processing', 'FAIL'],
    ['Verifying', 'RESTARTED'],
    ['AwaitingSigner', 'FAIL'],
    ['Queued', 'CANCEL'],
    ['AwaitingSigner', 'CANCEL'],
  ] as const) {
    const asked = attempt(jobMachine, from, announced, withEvent(event)).effects;
    t.is(asked.filter((name) => name === 'enqueueWebhooks').length, 1, `${from} × ${event}`);
  }
  for (const state of TERMINAL_STATES) {
    t.false(attempt(jobMachine, state, announced, withEvent('CLEAR')).accepted, state);
    const ended = jobMachine.resolveState({ value: state, context: announced as never });
    const [stored] = transition(jobMachine, ended, withEvent('WEBHOOKS_ENQUEUED') as never);
    t.is(attempt(jobMachine, state, stored.context, withEvent('CLEAR')).to, CLEARED);
  }
});
