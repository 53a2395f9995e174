/** The metrics of the batch service, against the table of its document and the additions to it. */
import test from 'ava';
import { createBatchMetrics } from '../../http/index.ts';
import { assertProblem, startServer } from './harness.ts';

/** Source: Batch Signing Service API, "Metrics exposed". */
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

/** Source: batch-gaps §11. */
const ADDED = [
  'batch_jobs_verify_skipped_total',
  'batch_cert_validation_failed_total',
  'batch_inputs_diverged_total',
  'batch_queue_wait_seconds',
  'batch_stage_duration_seconds',
  'batch_watcher_stopped',
  'batch_certificate_expiry_seconds',
  'batch_http_requests_total',
  'batch_actor_threads_lost_total',
  'batch_actors_stopped',
  'batch_effects_failing',
  'portal_http_requests_total',
];

const SUBJECTS = {
  folders: ['default', 'invoices'],
  profiles: [
    { name: 'default', remote: false },
    { name: 'contracts', remote: true },
  ],
  process: false,
};

test('the metrics are those of the document and its additions, and no others', (t) => {
  const { names } = createBatchMetrics(SUBJECTS, () => 0);
  t.deepEqual([...names()].sort(), [...DOCUMENTED, ...ADDED].sort());
});

test('every known series stands at zero before anything has happened', async (t) => {
  const metrics = createBatchMetrics(SUBJECTS, () => 0);
  const { call } = await startServer(t, {}, undefined, { metrics });
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
    'batch_jobs_in_flight 3',
    'batch_jobs_awaiting_remote 0',
    'batch_watcher_stopped{folder="default"} 0',
    // Those of the inspection these tests stand on.
    'batch_actors_stopped 1',
    'batch_effects_failing 2',
  ]) {
    t.true(lines.includes(line), line);
  }
  t.false(lines.some((line) => line.startsWith('batch_jobs_dispatched_to_remote_total{profile="default"}')));
});

test('what happens to jobs is counted with its labels', async (t) => {
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

test('metrics need the key unless the configuration lets anyone have them', async (t) => {
  const metrics = createBatchMetrics(SUBJECTS, () => 0);
  const closed = await startServer(t, {}, undefined, { metrics });
  await assertProblem(t, await fetch(`${closed.url}/api/metrics`), 'auth.invalid-credentials');
  const open = await startServer(t, { metricsNeedKey: false }, undefined, { metrics });
  t.is((await fetch(`${open.url}/api/metrics`)).status, 200);
});
