/** The metrics of a running service, beside what its jobs say. */
import test from 'ava';
import { run } from '../commands/program.ts';
import { Service, temporaryRoot } from './service.ts';

/** Name with labels → value. */
async function metrics(service: Service): Promise<ReadonlyMap<string, number>> {
  const text = await (await service.fetch('/api/metrics')).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => /^(?:batch|portal)_/.test(line))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('the counters agree with the jobs after a run, and the gauges right after a restart', async (t) => {
  const root = await temporaryRoot(t);
  const settings = {
    'Encryption:Enabled': true,
    'Encryption:Password': 'a password for metrics',
    'Encryption:Salt': Buffer.from('sixteen bytes and more').toString('base64'),
    'Encryption:Iterations': 100_000,
    'Metrics:RequireApiKey': true,
  };
  const service = await Service.start(t, { root, settings });
  for (const name of ['a.txt', 'b.xml', 'broken.pdf'])
    await service.finished((await service.upload(name, name === 'b.xml' ? '<a/>' : 'content')).jobId);
  await service.json('/api/pipeline/pause', { method: 'POST' });
  await service.json('/api/pipeline/pause', { method: 'POST' });
  const { jobId } = await service.upload('never.txt', 'content');
  await service.json(`/api/jobs/${jobId}/cancel`, { method: 'POST' });
  await service.upload('later.txt', 'content');

  const run = await metrics(service);
  for (const [name, value] of [
    ['batch_jobs_enqueued_total{folder="(upload)"}', 5],
    ['batch_jobs_completed_total', await service.count('Completed')],
    ['batch_jobs_failed_total', await service.count('Failed')],
    ['batch_jobs_canceled_total', await service.count('Canceled')],
    ['batch_files_encrypted_total', 2],
    ['batch_pipeline_pause_total', 1],
    ['batch_pipeline_resume_total', 0],
    ['batch_pipeline_paused', 1],
    ['batch_jobs_in_flight', 0],
    ['batch_jobs_awaiting_remote', 0],
    ['batch_watcher_stopped{folder="default"}', 0],
    ['batch_cert_validation_failed_total{profile="default"}', 0],
    ['batch_signing_duration_seconds_count{format="Cades"}', 1],
    ['batch_signing_duration_seconds_count{format="Xades"}', 1],
    ['batch_signing_duration_seconds_count{format="Pades"}', 0],
    ['batch_queue_wait_seconds_count', 3],
    ['batch_stage_duration_seconds_count{stage="queue"}', 3],
    ...(['stage', 'sign', 'verify', 'encrypt', 'publish'] as const).map(
      (stage) => [`batch_stage_duration_seconds_count{stage="${stage}"}`, 2] as const,
    ),
  ] as const) {
    t.is(run.get(name), value, name);
  }
  t.is(run.get('batch_jobs_completed_total'), 2);
  t.true((run.get('batch_certificate_expiry_seconds{profile="default"}') ?? 0) > 0);
  t.is(await service.stop(), 0);

  const again = await Service.start(t, { root, settings });
  const fresh = await metrics(again);
  t.is(fresh.get('batch_pipeline_paused'), 1);
  t.is(fresh.get('batch_jobs_completed_total'), 0);
  await again.json('/api/pipeline/resume', { method: 'POST' });
  await again.idle();
  const after = await metrics(again);
  t.is(after.get('batch_pipeline_resume_total'), 1);
  t.is(after.get('batch_jobs_completed_total'), 1);
  t.is(after.get('batch_pipeline_paused'), 0);
  t.is(await again.stop(), 0);
});

test('requests of both services are counted, by route and status', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root, settings: { 'Portal:Enabled': true } });
  t.is((await fetch(`${service.portalUrl}/api/health`)).status, 200);
  t.is((await fetch(`${service.portalUrl}/api/documents`)).status, 401);
  t.is((await service.fetch('/api/jobs')).status, 200);
  const seen = await metrics(service);
  t.is(seen.get('portal_http_requests_total{route="/api/health",status="200"}'), 1);
  t.is(seen.get('portal_http_requests_total{route="/api/documents",status="401"}'), 1);
  t.is(seen.get('batch_http_requests_total{route="/api/jobs",status="200"}'), 1);
  t.is(await service.stop(), 0);
});

test('documents, mails, webhook deliveries and signatures of the portal are counted', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root, settings: { 'Portal:Enabled': true } });
  const tried = await run(root, ['try', `--Storage:Root=${root}`]);
  t.is(tried.code, 0, tried.out + tried.err);
  const seen = await service.until('all mails to be sent', async () => {
    const found = await metrics(service);
    const isSent = (found.get('portal_mails{status="Sent"}') ?? 0) > 0;
    return isSent && found.get('portal_mails{status="Queued"}') === 0 ? found : undefined;
  });
  for (const [name, value] of [
    ['portal_documents{status="Concluded"}', 1],
    ['portal_documents{status="Pending"}', 1],
    ['portal_mails{status="Failed"}', 0],
    ['portal_mail_oldest_waiting_seconds', 0],
    ['portal_webhook_deliveries{status="Pending"}', 0],
    ['portal_webhook_oldest_pending_seconds', 0],
    ['portal_signing_duration_seconds_count{kind="electronic"}', 1],
    ['portal_signing_duration_seconds_count{kind="certificate"}', 0],
    ['portal_link_visits_total{outcome="made"}', 0],
  ] as const)
    t.is(seen.get(name), value, name);
  t.is(await service.stop(), 0);
});
