/** The metrics of the batch service, against the table of its document and the additions to it. */

import { spawnSync } from 'node:child_process';
import test, { type ExecutionContext } from 'ava';
import { createBatchMetrics } from '../../../http/index.ts';
import { withTools } from '../../verifiers/index.ts';
import { assertProblem, startServer } from '../harness.ts';

const toolTest = withTools(test, 'promtool');

/** Source: docs/batch-values.md §0. */
const DOCUMENTED = [
  'batch_jobs_enqueued_total',
  'batch_jobs_completed_total',
  'batch_jobs_failed_total',
  'batch_jobs_canceled_total',
  'batch_pipeline_pause_total',
  'batch_pipeline_resume_total',
  'batch_pipeline_paused',
  'batch_files_encrypted_total',
  'batch_jobs_in_flight',
  'batch_signing_duration_seconds',
  'batch_jobs_dispatched_to_remote_total',
  'batch_jobs_awaiting_remote',
  'batch_remote_poll_duration_seconds',
  'batch_remote_api_errors_total',
];

/** Source: docs/batch-values.md §11. */
const ADDED = [
  'batch_jobs_verify_skipped_total',
  'batch_independent_verifications_total',
  'batch_cert_validation_failed_total',
  'batch_inputs_diverged_total',
  'batch_queue_wait_seconds',
  'batch_stage_duration_seconds',
  'batch_watcher_stopped',
  'batch_certificate_expiry_seconds',
  'batch_http_requests_total',
  'batch_actor_threads_lost_total',
  'batch_actor_messages_unaccepted_total',
  'batch_actors_stopped',
  'batch_effects_failing',
  'batch_pool_hung',
  'batch_effects_set_aside',
  'batch_jobs_queued',
  'batch_oldest_queued_seconds',
  'batch_health_check',
  'batch_pipeline_held',
  'batch_webhook_calls_total',
  'batch_webhook_deliveries_total',
  'batch_webhook_deliveries_pending',
  'portal_http_requests_total',
  'portal_documents',
  'portal_mails',
  'portal_mail_oldest_waiting_seconds',
  'portal_webhook_deliveries',
  'portal_webhook_oldest_pending_seconds',
  'portal_signing_duration_seconds',
  'portal_link_visits_total',
];

const SUBJECTS = {
  folders: ['default', 'invoices'],
  profiles: [
    { name: 'default', remote: false },
    { name: 'contracts', remote: true },
  ],
  process: false,
};

test('the metrics are exactly those of the document and its additions', (t) => {
  const { names } = createBatchMetrics(SUBJECTS, () => 0);
  t.deepEqual([...names()].sort(), [...DOCUMENTED, ...ADDED].sort());
});

test('every known series is zero at the start', async (t) => {
  const metrics = createBatchMetrics(SUBJECTS, () => 0);
  const { call, service } = await startServer(t, {}, undefined, { metrics });
  for (let job = 0; job < 3; job += 1) await service.add({ status: 'Processing' });
  await service.stopActor();
  const response = await call('/api/metrics');
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n');
  for (const line of [
    'batch_jobs_enqueued_total{folder="default"} 0',
    'batch_jobs_enqueued_total{folder="invoices"} 0',
    'batch_jobs_enqueued_total{folder="(upload)"} 0',
    'batch_jobs_completed_total 0',
    'batch_jobs_dispatched_to_remote_total{profile="contracts"} 0',
    'batch_remote_api_errors_total{op="download"} 0',
    'batch_jobs_verify_skipped_total{profile="default"} 0',
    'batch_signing_duration_seconds_count{format="Xades"} 0',
    'batch_stage_duration_seconds_count{stage="encrypt"} 0',
    'batch_pipeline_paused 0',
    'batch_actor_messages_unaccepted_total{what="outcome"} 0',
    'batch_actor_messages_unaccepted_total{what="tell"} 0',
    'batch_actor_messages_unaccepted_total{what="deadline"} 0',
    'batch_jobs_in_flight 3',
    'batch_jobs_awaiting_remote 0',
    'batch_watcher_stopped{folder="default"} 0',
    'batch_actors_stopped 1',
    'batch_effects_failing 0',
  ]) {
    t.true(lines.includes(line), line);
  }
  t.false(lines.some((line) => line.startsWith('batch_jobs_dispatched_to_remote_total{profile="default"}')));
});

test('events of jobs are counted with their labels', async (t) => {
  const metrics = createBatchMetrics(SUBJECTS, () => 0);
  const { observer } = metrics;
  observer.enqueued(null);
  observer.enqueued('invoices');
  observer.completed({ format: 'Pades', profile: 'default', encrypted: true, verified: false, took: 2 });
  observer.failed({ profile: 'default', code: 'certificate.revoked' });
  observer.failed({ profile: 'default', code: 'pdf.malformed' });
  observer.callFailed('poll');
  const { call } = await startServer(t, {}, undefined, { metrics });
  await call('/api/jobs');
  const lines = (await (await call('/api/metrics')).text()).split('\n');
  for (const line of [
    'batch_jobs_enqueued_total{folder="(upload)"} 1',
    'batch_jobs_enqueued_total{folder="invoices"} 1',
    'batch_jobs_completed_total 1',
    'batch_files_encrypted_total 1',
    'batch_jobs_verify_skipped_total{profile="default"} 1',
    'batch_signing_duration_seconds_bucket{le="0.0025",format="Pades"} 1',
    'batch_jobs_failed_total 2',
    'batch_cert_validation_failed_total{profile="default"} 1',
    'batch_remote_api_errors_total{op="poll"} 1',
    'batch_http_requests_total{route="/api/jobs",status="200"} 1',
  ]) {
    t.true(lines.includes(line), line);
  }
});

test('results of independent verifications are counted by profile and verdict', async (t) => {
  const metrics = createBatchMetrics(SUBJECTS, () => 0);
  const { observer } = metrics;
  const job = { format: 'Pades', profile: 'default', encrypted: false, verified: true, took: 2 } as const;
  for (const independent of ['agrees', 'agrees', 'not-comparable'] as const)
    observer.completed({ ...job, independent });
  observer.completed(job);
  observer.failed({ profile: 'default', code: 'verification.disagreement' });
  observer.failed({ profile: 'default', code: 'verification.failed' });
  const { call } = await startServer(t, {}, undefined, { metrics });
  const lines = (await (await call('/api/metrics')).text()).split('\n');
  const counted = (profile: string) =>
    ['agrees', 'disagrees', 'not-comparable'].map((verdict) => {
      const name = `batch_independent_verifications_total{profile="${profile}",verdict="${verdict}"} `;
      return lines.find((line) => line.startsWith(name))?.slice(name.length);
    });
  t.deepEqual(counted('default'), ['2', '1', '1']);
  t.deepEqual(counted('contracts'), ['0', '0', '0']);
});

test('metrics need the key unless the configuration makes them public', async (t) => {
  const metrics = createBatchMetrics(SUBJECTS, () => 0);
  const closed = await startServer(t, {}, undefined, { metrics });
  await assertProblem(t, await fetch(`${closed.url}/api/metrics`), 'auth.invalid-credentials');
  const open = await startServer(t, { metricsNeedKey: false }, undefined, { metrics });
  t.is((await fetch(`${open.url}/api/metrics`)).status, 200);
});

/** Every exposed metric, with those of the process. */
async function exposition(t: ExecutionContext): Promise<string> {
  const metrics = createBatchMetrics({ ...SUBJECTS, process: true }, () => 0);
  const { call } = await startServer(t, {}, undefined, { metrics });
  return (await call('/api/metrics')).text();
}

test('names of counters alone end in _total, and every metric has a help text', async (t) => {
  const text = await exposition(t);
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  t.true(types.length > 20);
  for (const [, name = '', type] of types) {
    t.is(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    t.regex(text, new RegExp(`^# HELP ${name} \\S`, 'm'));
  }
});

toolTest('promtool reports no problem in the metrics', async (t) => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await exposition(t),
    encoding: 'utf8',
  });
  t.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
});
