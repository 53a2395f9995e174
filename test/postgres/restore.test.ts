/** Backup and restore of an installation on PostgreSQL, by the commands of docs/how-to.md. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ava from 'ava';
import { SAMPLE } from '../actors/portal/service.ts';
import { run } from '../commands/program.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

const SECRET = 'ef'.repeat(32);
const HOW_TO = fileURLToPath(new URL('../../../docs/how-to.md', import.meta.url));

/** Commands of the section, in order: those that make the backup, and those of the numbered steps. */
function documentedCommands(): { readonly backup: string; readonly drop: string; readonly restore: string } {
  const text = readFileSync(HOW_TO, 'utf8');
  const [, section = ''] = text.split('## Back up and restore a store on PostgreSQL');
  const backup = /```console\n([^`]+)```/.exec(section)?.[1];
  const drop = /`(psql [^`]+)`/.exec(section)?.[1];
  const restore = /`(pg_restore [^`]+)`/.exec(section)?.[1];
  if (backup === undefined || drop === undefined || restore === undefined)
    throw new Error('docs/how-to.md has no commands for backup and restore.');
  return { backup, drop, restore };
}

interface Detail {
  readonly status: string;
  readonly flowActions: readonly { readonly id: string; readonly status: string }[];
}

async function portal(service: Service, path: string, body?: object): Promise<Response> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${service.portalUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'X-Api-Key': `App|${SECRET}`,
      ...(!isForm && body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

async function detail(service: Service, id: string): Promise<Detail> {
  return (await portal(service, `/api/documents/${id}`)).json() as Promise<Detail>;
}

async function sign(service: Service, id: string, at: number): Promise<void> {
  const action = await service.until(`action ${at} to be pending`, async () => {
    const found = (await detail(service, id)).flowActions[at];
    return found?.status === 'Pending' ? found : undefined;
  });
  await portal(service, `/api/documents/${id}/electronic-signature`, { flowActionId: action.id });
}

function concluded(service: Service, id: string): Promise<true> {
  return service.until('the document to be concluded', async () =>
    (await detail(service, id)).status === 'Concluded' ? true : undefined,
  );
}

/** Creates a document that two persons sign, one after the other. */
async function createDocument(service: Service): Promise<string> {
  const form = new FormData();
  form.set('content', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
  const upload = (await (await portal(service, '/api/uploads', form)).json()) as { id: string };
  const signer = (name: string, step: number) => ({
    type: 'Signer',
    step,
    allowElectronicSignature: true,
    user: { name, email: `${name}@example.com`, identifier: name },
  });
  const made = await portal(service, '/api/documents', {
    files: [{ ...upload, displayName: SAMPLE.name }],
    flowActions: [signer('ann', 1), signer('bob', 2)],
  });
  const [document] = (await made.json()) as { documentId: string }[];
  return document?.documentId ?? '';
}

async function bytesOf(service: Service, id: string): Promise<Buffer> {
  const answer = await portal(service, `/api/documents/${id}/content?type=Original`);
  return Buffer.from(await answer.arrayBuffer());
}

test('a dump of a running node and its files restore every acknowledged job and document', async (t) => {
  t.timeout(240_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const commands = documentedCommands();
  const place = await temporaryRoot(t);
  const backup = join(place, 'backup');
  const root = join(place, 'data');
  for (const folder of [backup, root]) mkdirSync(folder);
  /** Runs documented commands with this place instead of that of the example. */
  const shell = (text: string, cwd = place) =>
    promisify(execFile)('bash', ['-euc', text.replaceAll('/mnt/backup', backup)], {
      cwd,
      env: { ...process.env, DATABASE_URL: cluster.url },
    });
  const settings = {
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': cluster.url,
    'Runtime:LeaseSeconds': 2,
    'Runtime:NodeName': 'node-1',
    'Runtime:Shards': 1,
    'Portal:Enabled': true,
    'Portal:Bootstrap:Organization': 'Acme',
    'Portal:Bootstrap:Application': 'App',
    'Portal:Bootstrap:Secret': SECRET,
  };

  const service = await Service.startOne(t, { root, settings });
  const done = (await service.upload('done.txt', 'done')).jobId;
  t.is((await service.finished(done)).status, 'Completed');
  const finished = await createDocument(service);
  for (const at of [0, 1]) await sign(service, finished, at);
  await concluded(service, finished);
  const open = await createDocument(service);
  await sign(service, open, 0);
  await service.until('the turn of the second signer', async () =>
    (await detail(service, open)).flowActions[1]?.status === 'Pending' ? true : undefined,
  );
  await service.json('/api/pipeline/pause', { method: 'POST' });
  const queued = await service.upload('queued.txt', 'queued');
  const lost = await service.upload('lost.txt', 'lost');
  const jobs = await service.jobs();
  const documents = await (await portal(service, '/api/documents')).json();
  const file = await bytesOf(service, finished);
  t.true(file.length > 0);
  const output = await (await service.fetch(`/api/jobs/${done}/output`)).text();

  await shell(commands.backup);
  // What comes after the dump is not part of it.
  const late = await createDocument(service);
  await service.kill();

  await shell(commands.drop);
  await shell(commands.restore);
  renameSync(root, join(place, 'earlier'));
  mkdirSync(root);
  await shell(`cp -a ${backup}/keys ${backup}/portal data/`);
  // A copy of the folders of jobs, without the file of one queued job.
  await shell(`cp -a earlier/input earlier/output data/; rm '${lost.originalPath}'`);
  const restored = await Service.startOne(t, { root, settings });
  t.deepEqual(await restored.jobs(), jobs);
  t.deepEqual(await (await portal(restored, '/api/documents')).json(), documents);
  t.deepEqual(await bytesOf(restored, finished), file);
  t.is(await (await restored.fetch(`/api/jobs/${done}/output`)).text(), output);
  await t.throwsAsync(detail(restored, late), { message: /DocumentNotFound/ });

  // The open document and the queued jobs go on, with their files.
  await restored.json('/api/pipeline/resume', { method: 'POST' });
  t.is((await restored.finished(queued.jobId)).status, 'Completed');
  t.like(await restored.finished(lost.jobId), { status: 'Failed', errorCode: 'input.missing' });
  await sign(restored, open, 1);
  await concluded(restored, open);
  t.true((await bytesOf(restored, open)).length > 0);
  const words = Object.entries({ ...settings, 'Storage:Root': root }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  const verified = await run(place, ['verify-history', ...words]);
  t.is(verified.code, 0, verified.err);
  t.regex(verified.out, /^The history is whole: [1-9]\d* lines of [1-9]\d* actors/);
  t.is(await restored.stop(), 0);

  // While no node runs, a command covers what it changes.
  const made = await run(place, ['keys', 'create', 'Acme', 'App', ...words]);
  t.is(made.code, 0, made.err);
  const later = await run(place, ['verify-history', ...words]);
  t.is(later.code, 0, `${later.out}${later.err}`);
});
