/** Input folders of the running program: rewritten inputs, watchers that stop, and what is said of both. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { DIVERGED_MESSAGE } from '../../machines/batch/job-context.ts';
import { ScriptedPortal } from '../remote/scripted-portal.ts';
import { Service, temporaryRoot } from './service.ts';
import { sha256 } from './signing/evidence.ts';
import { profile } from './signing/profiles.ts';

interface FolderState {
  readonly name: string;
  readonly status: string;
  readonly lastError: string | null;
}

async function folder(service: Service, name: string): Promise<FolderState> {
  const { folders } = await service.json<{ folders: FolderState[] }>('/api/folders');
  const found = folders.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no folder ${name}`);
  return found;
}

async function events(service: Service, kind: string) {
  type Event = { readonly jobId: string | null; readonly code: string | null; readonly message: string };
  return (await service.json<{ items: Event[] }>(`/api/events?kind=${kind}`)).items;
}

/** The value of one series. */
async function metric(service: Service, name: string): Promise<number | undefined> {
  const text = await (await service.fetch('/api/metrics')).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

test('an input rewritten during its job stays, is recorded as event and metric, and signed as a new file', async (t) => {
  const root = await temporaryRoot(t);
  const portal = await new ScriptedPortal().listen(t);
  // A job that waits for a person gives the time to rewrite its input.
  const service = await Service.start(t, {
    root,
    settings: {
      ...profile(0, {
        Name: 'contracts',
        Format: 'Pades',
        Method: 'RemoteSigner',
        'RemoteSigner:Name': 'Ann Example',
        'RemoteSigner:Email': 'ann@example.org',
        'RemoteSigner:Identifier': '12345678909',
      }),
      'RemoteSigner:Endpoint': portal.url,
      'RemoteSigner:ApiKey': portal.apiKey,
      'RemoteSigner:PollIntervalSeconds': 1,
    },
  });
  const waiting = (count: number) =>
    service.until(`${count} documents`, async () =>
      portal.documents.size === count && (await service.count('AwaitingSigner')) === 1 ? true : undefined,
    );
  const path = join(root, 'input', 'a.pdf');
  const before = samplePdf(4_000, 'before');
  const after = samplePdf(5_000, 'after');
  await writeFile(path, before);
  await waiting(1);
  await writeFile(join(root, 'input', '.next'), after);
  await rename(join(root, 'input', '.next'), path);
  for (const document of portal.documents.values()) portal.conclude(document);
  await service.until('the first job', async () =>
    (await service.count('Completed')) === 1 ? true : undefined,
  );
  await waiting(2);
  t.deepEqual(await readFile(path), after, 'the correction is not lost');
  const [second, first] = await Promise.all(
    [...(await service.jobs())].reverse().map(({ id }) => service.job(id)),
  );
  t.like(first, { status: 'Completed', inputSha256: sha256(before) });
  t.is(first?.history.at(-1)?.message, DIVERGED_MESSAGE);
  t.is(first?.history.at(-1)?.status, 'Completed');
  const [event, ...others] = await events(service, 'InputDiverged');
  t.like(event, { jobId: first?.id, code: 'job.input-diverged' });
  t.deepEqual(others, []);
  t.is(await metric(service, 'batch_inputs_diverged_total{profile="contracts"}'), 1);
  for (const document of portal.documents.values())
    if (document.status === 'Pending') portal.conclude(document);
  const done = await service.finished(second?.id ?? '');
  t.like(done, { status: 'Completed', inputSha256: sha256(after) });
  // Completed is stored first, then the original is removed.
  await service.until('the original to be removed', async () => !existsSync(path) || undefined);
  t.is((await events(service, 'InputDiverged')).length, 1);
  await service.kill();
});

test('a watcher with an exhausted budget is Stopped in every view, leaves the others alone, and starts again by a restart only', async (t) => {
  const root = await temporaryRoot(t);
  // A file in it has a path longer than can be stored: each such file is an enqueue failure.
  const deep = join(root, ...Array.from({ length: 4 }, (_, at) => `${at}`.repeat(180)));
  await mkdir(deep, { recursive: true });
  const good = join(root, 'good');
  await mkdir(good);
  const settings = {
    'Storage:Inputs:0:Name': 'deep',
    'Storage:Inputs:0:Path': deep,
    'Storage:Inputs:1:Name': 'good',
    'Storage:Inputs:1:Path': good,
    'WatchedFolder:MaxConsecutiveEnqueueFailures': 2,
  };
  const first = await Service.start(t, { root, settings });
  const long = (letter: string) => join(deep, letter.repeat(200));
  await writeFile(long('a'), 'content');
  await first.until('the first failure', async () => (await folder(first, 'deep')).lastError ?? undefined);
  t.is((await folder(first, 'deep')).status, 'Running', 'one failure is within the budget');
  t.is((await fetch(`${first.url}/api/ready`)).status, 200);
  await writeFile(long('b'), 'content');
  await first.until('the watcher to stop', async () =>
    (await folder(first, 'deep')).status === 'Stopped' ? true : undefined,
  );
  t.regex((await folder(first, 'deep')).lastError ?? '', /characters long/);
  const ready = await fetch(`${first.url}/api/ready`);
  t.is(ready.status, 503);
  type Ready = { readonly checks: readonly { readonly name: string; readonly status: string }[] };
  const { checks } = (await ready.json()) as Ready;
  t.deepEqual(
    checks.filter(({ status }) => status !== 'Healthy').map(({ name }) => name),
    ['input-folder:deep'],
  );
  const [event, ...others] = await first.until('the event', async () => {
    const found = await events(first, 'WatcherStopped');
    return found.length > 0 ? found : undefined;
  });
  t.regex(event?.message ?? '', /^Folder deep: Watcher stopped after 2 enqueue failures in a row/);
  t.deepEqual(others, []);
  t.is(await metric(first, 'batch_watcher_stopped{folder="deep"}'), 1);
  t.is(await metric(first, 'batch_watcher_stopped{folder="good"}'), 0);

  await rm(long('a'));
  await rm(long('b'));
  await writeFile(join(deep, 'short.txt'), 'content');
  await writeFile(join(good, 'a.txt'), 'content');
  await first.until('the other folder to go on', async () =>
    (await first.count('Completed')) === 1 ? true : undefined,
  );
  t.is((await folder(first, 'deep')).status, 'Stopped', 'mending the cause revives nobody');
  t.is((await first.jobs()).length, 1);
  t.is(await first.stop(), 0);

  const second = await Service.start(t, { root, settings });
  await second.until('the file that waited', async () =>
    (await second.count('Completed')) === 2 ? true : undefined,
  );
  t.like(await folder(second, 'deep'), { status: 'Running', lastError: null });
  t.is((await fetch(`${second.url}/api/ready`)).status, 200);
  t.is(await metric(second, 'batch_watcher_stopped{folder="deep"}'), 0);
  await second.kill();
});

test('files of a mixed folder are signed in their own formats by a profile without Format', async (t) => {
  const root = await temporaryRoot(t);
  const input = join(root, 'input');
  await mkdir(input);
  await writeFile(join(input, 'a.pdf'), samplePdf(4_000, 'mixed'));
  await writeFile(join(input, 'b.xml'), '<order/>');
  await writeFile(join(input, 'c.txt'), 'text');
  const service = await Service.start(t, { root, settings: profile(0, { Name: 'mixed' }) });
  await service.until(
    'three signed files',
    async () => (await service.count('Completed')) === 3 || undefined,
  );
  const formats = Object.fromEntries(
    (await service.jobs()).map(({ fileName, format }) => [fileName, format]),
  );
  t.deepEqual(formats, { 'a.pdf': 'Pades', 'b.xml': 'Xades', 'c.txt': 'Cades' });
  await service.kill();
});
