/** Return of an installation to a moment, by the steps of docs/how-to.md: log of the database, versions of the bucket. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3';
import ava from 'ava';
import pg from 'pg';
import { run } from '../../../commands/program.ts';
import { startServer } from '../../../postgres/cluster.ts';
import { reached } from '../../../project/waiting.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { withTools } from '../../../verifiers/tool.ts';
import { Client, SAMPLE } from '../../portal/service.ts';
import { sharedRadosgw } from './radosgw.ts';

const test = withTools(ava, 'radosgw', 'postgres');

const SECRET = 'cd'.repeat(32);
const PROGRAM = fileURLToPath(new URL('../../../../../', import.meta.url));

/** Commands of the section, in order, and the script that brings objects back. */
function documented(): { readonly backup: string; readonly restore: string; readonly script: string } {
  const text = readFileSync(join(PROGRAM, 'docs/how-to.md'), 'utf8');
  const [, section = ''] = text.split('### Return to a moment, with a versioned bucket');
  const [backup, restore] = [...section.matchAll(/```console\n([^`]+)```/g)].map(([, commands]) => commands);
  const script = /```js\n([^`]+)```/.exec(section)?.[1];
  if (backup === undefined || restore === undefined || script === undefined)
    throw new Error('docs/how-to.md has no steps for the return to a moment.');
  return { backup, restore, script };
}

interface Detail {
  readonly status: string;
  readonly flowActions: readonly { readonly id: string; readonly status: string }[];
}

test('database and bucket return to a moment, and the work of that moment goes on', async (t) => {
  t.timeout(400_000);
  const steps = documented();
  const server = await sharedRadosgw();
  const place = await temporaryRoot(t);
  chmodSync(place, 0o755);
  const [archive, backup, root] = ['archive', 'backup', 'data'].map((name) => join(place, name));
  for (const folder of [archive, backup, root]) mkdirSync(folder ?? '');
  chmodSync(archive ?? '', 0o777);
  const old = await startServer({
    settings: ['archive_mode=on', `archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`],
  });
  t.teardown(() => old.remove().catch(() => {}));
  const bucket = await server.bucket();
  const versions = { Status: 'Enabled' as const };
  await server
    .client()
    .send(new PutBucketVersioningCommand({ Bucket: bucket.bucket, VersioningConfiguration: versions }));

  const settingsFor = (url: string) => ({
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': url,
    'Runtime:NodeName': 'node-1',
    'Runtime:LeaseSeconds': 2,
    'Runtime:Shards': 1,
    'Portal:Enabled': true,
    'Portal:Bootstrap:Organization': 'Acme',
    'Portal:Bootstrap:Application': 'App',
    'Portal:Bootstrap:Secret': SECRET,
    'Storage:Objects:Kind': 'S3',
    'Storage:Objects:S3:Endpoint': bucket.endpoint,
    'Storage:Objects:S3:ForcePathStyle': true,
    'Storage:Objects:S3:Bucket': bucket.bucket,
    'Storage:Objects:S3:Prefix': 'portal',
    'Storage:Objects:S3:AccessKeyId': bucket.accessKeyId ?? '',
    'Storage:Objects:S3:SecretAccessKey': bucket.secretAccessKey ?? '',
  });
  /** Runs documented commands with the places of this test. */
  const shell = (text: string, env: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)(
      'bash',
      ['-euc', text.replaceAll('/mnt/backup', backup ?? '').replaceAll('/mnt/archive', archive ?? '')],
      { cwd: place, env: { ...process.env, DATABASE_URL: old.url, ...env } },
    );
  const signers = ['ann', 'bob'].map((name, at) => ({
    type: 'Signer',
    step: at + 1,
    allowElectronicSignature: true,
    user: { name, email: `${name}@example.com`, identifier: name },
  }));
  const clientOf = (service: Service) => new Client(service.portalUrl, `App|${SECRET}`);
  const detail = (client: Client, id: string) => client.get<Detail>(`/api/documents/${id}`);
  const sign = async (service: Service, id: string, at: number) => {
    const client = clientOf(service);
    const flowActionId = await service.until(`action ${at} to be pending`, async () => {
      const action = (await detail(client, id)).flowActions[at];
      return action?.status === 'Pending' ? action.id : undefined;
    });
    await client.post(`/api/documents/${id}/electronic-signature`, { flowActionId });
  };
  const isConcluded = (service: Service, id: string) =>
    service.until('the document to be concluded', async () =>
      (await detail(clientOf(service), id)).status === 'Concluded' ? true : undefined,
    );

  const service = await Service.startOne(t, { root: root ?? '', settings: settingsFor(old.url) });
  const document = await clientOf(service).create(signers);
  await shell(steps.backup);
  // What comes between the base backup and the moment is in the log alone.
  await sign(service, document, 0);
  const done = await service.upload('done.txt', 'done');
  t.is((await service.finished(done.jobId)).status, 'Completed');
  await service.json('/api/pipeline/pause', { method: 'POST' });
  const queued = await service.upload('queued.txt', 'queued');
  const jobs = await service.jobs();
  const database = new pg.Client({ connectionString: old.url });
  await database.connect();
  const { rows } = await database.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  const moment = rows[0]?.at.toISOString() ?? '';
  // Times of the bucket are whole seconds.
  await reached(() => Date.now() > Date.parse(moment) + 1000);

  await service.json('/api/pipeline/resume', { method: 'POST' });
  t.is((await service.finished(queued.jobId)).status, 'Completed');
  const lost = await service.upload('lost.txt', 'lost');
  t.is((await service.finished(lost.jobId)).status, 'Completed');
  await sign(service, document, 1);
  await isConcluded(service, document);
  const late = await clientOf(service).create(signers);
  const { rows: segments } = await database.query<{ name: string }>(
    'SELECT pg_walfile_name(pg_switch_wal()) AS name',
  );
  await reached(async () => {
    const archived = await database.query<{ name: string | null }>(
      'SELECT last_archived_wal AS name FROM pg_stat_archiver',
    );
    return (archived.rows[0]?.name ?? '') >= (segments[0]?.name ?? '');
  });
  await database.end();
  await service.kill();
  // A removal that is tried again leaves a second marker.
  const removed = await server.client().send(new ListObjectVersionsCommand({ Bucket: bucket.bucket }));
  t.truthy(removed.DeleteMarkers?.length, 'the input of the queued job');
  for (const { Key, IsLatest } of removed.DeleteMarkers ?? [])
    if (IsLatest) await server.client().send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key }));
  await old.stop('immediate');

  const base = readdirSync(backup ?? '').find((name) => name.startsWith('base-')) ?? '';
  await shell(
    steps.restore
      .replace('base-2026-11-22', base)
      .replace('2026-11-22 10:00:00+00', moment.replace('T', ' ').replace('Z', '+00')),
  );
  const restored = await startServer({ restored: join(place, 'restored') });
  t.teardown(() => restored.remove());
  const settings = settingsFor(restored.url);
  await reached(async () => {
    const client = new pg.Client({ connectionString: restored.url });
    await client.connect();
    const { rows: found } = await client.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
    await client.end();
    return found[0]?.is === false;
  });
  const script = join(PROGRAM, 'dist', `bring-back-${process.pid}.mjs`);
  t.teardown(() => rmSync(script, { force: true }));
  writeFileSync(
    script,
    steps.script
      .replace("{ region: 'eu-central-1' }", JSON.stringify({ ...bucket, forcePathStyle: true }))
      .replace('acme-signing', bucket.bucket)
      .replace('2026-11-22T10:00:00Z', moment),
  );
  await shell(`node ${script}`, {
    AWS_ACCESS_KEY_ID: bucket.accessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey ?? '',
  });
  const fresh = join(place, 'fresh');
  await shell(`mkdir ${fresh} && cp -a /mnt/backup/keys ${fresh}/`);
  const words = Object.entries({ ...settings, 'Storage:Root': fresh }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  const node = await Service.startOne(t, {
    root: fresh,
    settings,
  });
  t.deepEqual(await node.jobs(), jobs);
  for (const command of [['verify-history', '--files'], ['doctor']]) {
    // The usual ports may be taken by others.
    const ports = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
    const { code, out, err } = await run(place, [...command, ...words, ...ports]);
    t.is(code, 0, `${command[0]}: ${out}${err}`);
  }
  await t.throwsAsync(detail(clientOf(node), late), { message: /DocumentNotFound/ });

  await node.json('/api/pipeline/resume', { method: 'POST' });
  const again = await node.finished(queued.jobId);
  t.like(again, { status: 'Completed', outputFileName: 'queued.signed.txt' });
  t.is((await node.fetch(`/api/jobs/${queued.jobId}/output`)).status, 200);
  const other = await node.upload('lost.txt', 'lost');
  const repeated = await node.finished(other.jobId);
  t.is(repeated.status, 'Completed');
  t.not(repeated.outputFileName, 'lost.signed.txt', 'the output of the lost job stays');
  await sign(node, document, 1);
  await isConcluded(node, document);
  const original = await clientOf(node).fetch(`/api/documents/${document}/content?type=Original`);
  t.true(Buffer.from(await original.arrayBuffer()).equals(SAMPLE.content));
  const verified = await run(place, ['verify-history', '--files', ...words]);
  t.is(verified.code, 0, verified.out + verified.err);
  t.is(await node.stop(), 0);
});
