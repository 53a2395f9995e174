/** Actions of operators and administrators leave a journal line, which the history seals. Source: docs/decisions/0053-tamper-evident-history.md. */
import test from 'ava';
import { type AnyStateMachine, getInitialSnapshot, transition } from 'xstate';
import { jobDeliveryMachine } from '../../machines/batch/job-delivery-queue.ts';
import { operationMachine } from '../../machines/batch/operation.ts';
import { pipelineMachine } from '../../machines/batch/pipeline.ts';
import { NO_SETTINGS, organizationMachine } from '../../machines/portal/accounts/organization.ts';
import { portalUserMachine } from '../../machines/portal/accounts/portal-user.ts';
import { mailMachine } from '../../machines/portal/mail.ts';
import { webhookSetMachine } from '../../machines/portal/webhook-set.ts';

interface Taken {
  readonly type: string;
  readonly params: { readonly message?: string };
}

/** The journal lines of each of these events in turn; `''` for an event that leaves none. */
function linesOf(machine: AnyStateMachine, input: object, events: readonly object[]): readonly string[] {
  let snapshot = getInitialSnapshot(machine, input as never);
  return events.map((event) => {
    const [next, actions] = transition(machine, snapshot, { at: 5, ...event } as never);
    snapshot = next;
    const notes = (actions as unknown as readonly Taken[]).filter(({ type }) => type === 'note');
    return notes.map(({ params }) => params.message ?? '').join(' ');
  });
}

const target = {
  url: 'https://user:word@hooks.example/in/secret-path?token=1',
  authType: 'NoAuth',
  token: null,
  secret: null,
};

test('registering, replacing, disabling and removing a webhook writes a line with the origin and without secrets', (t) => {
  const lines = linesOf(webhookSetMachine, {}, [
    { type: 'ADD', id: 'w1', target },
    { type: 'REPLACE', id: 'w1', target },
    { type: 'DISABLE', id: 'w1', reason: '410 Gone' },
    { type: 'REMOVE', id: 'w1' },
    { type: 'CONFIGURE', webhook: { id: 'c', target } },
    { type: 'CONFIGURE', webhook: null },
  ]);
  t.deepEqual(lines, [
    'Webhook w1 added for https://hooks.example.',
    'Webhook w1 replaced, now for https://hooks.example.',
    'Webhook w1 disabled: 410 Gone',
    'Webhook w1 removed.',
    'Webhook of the settings set for https://hooks.example.',
    'Webhook of the settings removed.',
  ]);
});

test('changes of keys, applications and settings of an organization write lines without keys', (t) => {
  const organization = { ...NO_SETTINGS, name: 'Acme', createdAt: 1, applications: [] };
  const sha256 = 'f'.repeat(64);
  const lines = linesOf(organizationMachine, organization, [
    { type: 'ADD_APPLICATION', id: 'a1', name: 'App', role: 'Normal', secret: null },
    { type: 'ADD_SECRET', applicationId: 'a1', id: 's1', prefix: 'abcdefgh', sha256 },
    { type: 'REVOKE_SECRET', applicationId: 'a1', id: 's1' },
    { type: 'CONFIGURE', settings: { language: 'pt' } },
  ]);
  t.deepEqual(lines, [
    'Application "App" added as Normal.',
    'Secret abcdefgh... added.',
    'Secret s1 revoked.',
    'Settings changed: language.',
  ]);
});

test('changes of memberships write lines without personal data', (t) => {
  const profile = { name: 'Ann', identifier: null, email: 'ann@example.org', phone: null };
  const accessProfile = { administrator: true, manager: false, operator: true };
  const lines = linesOf(portalUserMachine, { ...profile, subject: null, createdAt: 1, memberships: [] }, [
    { type: 'JOIN', membership: { organizationId: 'o1', accessProfile } },
    { type: 'DESCRIBE', subject: null, profile },
    { type: 'LEAVE', organizationId: 'o1' },
  ]);
  t.deepEqual(lines, [
    'Joined organization o1 as administrator, operator.',
    'Described anew.',
    'Left organization o1.',
  ]);
});

test('pause, resume, large operations and repeated deliveries and mails write lines', (t) => {
  const pauses = linesOf(pipelineMachine, {}, [
    { type: 'PAUSE', reason: 'audit' },
    { type: 'RESUME', reason: null },
  ]);
  t.deepEqual(pauses, ['Pipeline paused by operator. Reason: audit.', 'Pipeline resumed by operator.']);
  const filter = { statuses: [], createdTo: 1 };
  const operation = { action: 'retry', filter, reason: null, operator: 'operator', matched: 3, at: 1 };
  t.deepEqual(linesOf(operationMachine, operation, [{ type: 'CANCEL' }]), ['Canceled by operator.']);
  const deliveries = [{ id: 'd1', type: 'Completed', sequence: 1, body: '{}', createdAt: 1, notBefore: 0 }];
  const input = { webhookId: 'w1', jobId: 'j1', deliveries, at: 1 };
  t.deepEqual(linesOf(jobDeliveryMachine, input, [{ type: 'RESEND', ids: ['d1'] }]), [
    'Sent again on request: d1.',
  ]);
  const mail = { organizationId: 'o1', content: { about: 'turn' }, at: 1 };
  const refused = { type: 'REFUSED', code: 'mail.refused', message: 'No such mailbox.' };
  t.is(linesOf(mailMachine, mail, [refused, { type: 'SEND_NOW' }])[1], 'Sent again on request.');
  const byOperator = [refused, { type: 'SEND_NOW', by: 'operator' }];
  t.is(linesOf(mailMachine, mail, byOperator)[1], 'Sent again by operator.');
});
