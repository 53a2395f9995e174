/** Inputs in a bucket of a real server, with one between that is busy, late, breaks off and refuses. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { type Clock, isRetryable, systemClock, systemIds } from '@sealwright/runtime';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { FolderOptions } from '../../../../actors/batch/folders/folders.ts';
import { BucketOriginals } from '../../../../actors/batch/objects/bucket-originals.ts';
import { InputBuckets } from '../../../../actors/shared/objects/input-buckets.ts';
import { samplePdf } from '../../../../bench/samples.ts';
import type { FolderName, ProfileName } from '../../../../machines/ids.ts';
import { startServer } from '../../../postgres/cluster.ts';
import { HastyClock } from '../../../project/hasty-clock.ts';
import { reached } from '../../../project/waiting.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { withTools } from '../../../verifiers/tool.ts';
import { type Radosgw, sharedRadosgw } from '../../shared/objects/radosgw.ts';
import { type BatchFixture, batchFixture } from '../batch-harness.ts';

const test = withTools(anyTest as TestFn<{ server: Radosgw }>, 'radosgw', 'postgres');

test.before(async (t) => {
  t.context.server = await sharedRadosgw();
});

type Bucket = Awaited<ReturnType<typeof bucketOn>>;

async function bucketOn(server: Radosgw) {
  const options = await server.bucket();
  const Bucket = options.bucket;
  const client = server.client();
  return {
    options,
    put: (Key: string, Body: string | Buffer) => client.send(new PutObjectCommand({ Bucket, Key, Body })),
    remove: (Key: string) => client.send(new DeleteObjectCommand({ Bucket, Key })),
    withVersions: () =>
      client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } })),
    keys: async () =>
      ((await client.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key = '' }) => Key),
  };
}

function onBucket(title: string, run: (t: ExecutionContext, bucket: Bucket) => Promise<void>): void {
  test(title, async (t) => {
    const { server } = t.context;
    t.timeout(120_000);
    await run(t, await bucketOn(server));
  });
}

type How = 'taken' | 'broken' | undefined;
type Interfere = (incoming: IncomingMessage, response: ServerResponse) => How | Promise<How>;

/** Stands between the service and the server. `broken`: the answer ends in the middle of its body. */
async function between(t: ExecutionContext, endpoint: string) {
  const link = { interfere: (() => undefined) as Interfere, endpoint: '' };
  const proxy = createServer(async (incoming, response) => {
    const how = await link.interfere(incoming, response);
    if (how === 'taken') return;
    const { method = 'GET', url = '', headers } = incoming;
    const onward = request(`${endpoint}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (how !== 'broken') return void answer.pipe(response);
      answer.once('data', (chunk: Buffer) => {
        response.write(chunk.subarray(0, Math.ceil(chunk.length / 2)));
        setImmediate(() => response.destroy());
      });
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  link.endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return link;
}

async function watching(
  t: ExecutionContext,
  { options }: Bucket,
  {
    endpoint = options.endpoint,
    root,
    files,
    clock,
    timeout,
  }: {
    readonly endpoint?: string;
    readonly root?: string;
    /** A second input, a folder; jobs run one at a time then. */
    readonly files?: string;
    readonly clock?: Clock;
    readonly timeout?: number;
  } = {},
): Promise<BatchFixture> {
  const buckets = bucketsAt(endpoint, options, timeout);
  const folder: FolderOptions = {
    name: 'scans' as FolderName,
    path: `s3://${options.bucket}/in`,
    source: { buckets, bucket: options.bucket, prefix: 'in/' },
    profile: 'default' as ProfileName,
    budget: 2,
    settings: {
      stability: { intervalMs: 50, requiredSamples: 2, timeoutMs: 10_000 },
      concurrency: 4,
      ignoredExtensions: ['.part'],
      ignoredPrefixes: ['.'],
      recursive: true,
      sweepIntervalMs: 200,
    },
  };
  const { source: _, ...other } = folder;
  return batchFixture(t, {
    folders: [folder, ...(files ? [{ ...other, name: 'files' as FolderName, path: files }] : [])],
    inputBuckets: buckets,
    ...(root && { root }),
    ...(files && { maxConcurrency: 1 }),
    ...(clock && { clock }),
  });
}

function bucketsAt(endpoint: string, options: Bucket['options'], timeout?: number): InputBuckets {
  const log = { warn: () => {} };
  return new InputBuckets({ ...options, endpoint }, { clock: systemClock, log, ...(timeout && { timeout }) });
}

function refuse(response: ServerResponse): How {
  response.writeHead(403, { 'content-type': 'application/xml' });
  response.end('<Error><Code>AccessDenied</Code></Error>');
  return 'taken';
}

const outputs = ({ layout }: BatchFixture) =>
  readdirSync(layout.output, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(layout.output.length + 1))
    .sort();

onBucket('objects become signed files and are removed, whatever their keys', async (t, bucket) => {
  await bucket.withVersions();
  const others = [
    'in/',
    'in/sub/',
    'in/.hidden',
    'in/empty.txt',
    'in/../out.txt',
    'in//b.txt',
    'inner/c.txt',
  ];
  for (const key of others) await bucket.put(key, /\/$|empty/.test(key) ? '' : 'other');
  await bucket.put('in/a b+c%20ü.txt', 'first');
  await bucket.put('in/sub/d.txt', 'second');
  await bucket.put('in/scan.dat', samplePdf(2_000));
  const fixture = await watching(t, bucket);
  await fixture.reach('Completed', 3);
  await reached(async () => (await bucket.keys()).length === others.length);
  t.deepEqual(outputs(fixture), ['a b+c%20ü.signed.txt', 'scan.signed.dat', 'sub/d.signed.txt']);
  const signed = readFileSync(join(fixture.layout.output, 'scan.signed.dat'), 'latin1');
  t.true(signed.startsWith('%PDF-'), 'a PDF is one by its content');
  const [report] = await fixture.batch.folders.list();
  t.regex(report?.lastError ?? '', /names no file.* 1 more/);
  // The same bytes, and others, under a key that was processed.
  await bucket.put('in/sub/d.txt', 'second');
  await fixture.reach('Completed', 4);
  await reached(async () => (await bucket.keys()).length === others.length);
  await bucket.put('in/sub/d.txt', 'third');
  await fixture.reach('Completed', 5);
  await reached(async () => (await bucket.keys()).length === others.length);
  t.deepEqual((await bucket.keys()).sort(), [...others].sort());
});

/** An input whose object `in/a.txt` becomes `second` when its job asks about it before the removal. */
async function replacedBeforeRemoval(t: ExecutionContext, bucket: Bucket, second: string) {
  const link = await between(t, bucket.options.endpoint);
  let isRead = false;
  let isReplaced = false;
  link.interfere = async ({ method, url = '', headers: { range } }) => {
    if (!url.includes('/in/a.txt')) return undefined;
    // Its first bytes are read before, for its format.
    if (method === 'GET') isRead = range === undefined;
    else if (isRead && !isReplaced) {
      // The request before the removal.
      isReplaced = true;
      await bucket.put('in/a.txt', second);
    }
    return undefined;
  };
  await bucket.put('in/a.txt', 'first');
  // The store tells times in whole seconds.
  await systemClock.sleep(1_100);
  const fixture = await watching(t, bucket, link);
  await fixture.reach('Completed', 2);
  await reached(async () => (await bucket.keys()).length === 0);
  t.is(outputs(fixture).length, 2);
  return fixture;
}

onBucket('an object that is replaced while its job runs stays, and is a new input', async (t, bucket) => {
  const { batch } = await replacedBeforeRemoval(t, bucket, 'second');
  const { items } = await batch.jobs.list({ statuses: [], page: 1, pageSize: 10 });
  const digests = await Promise.all(items.map(async ({ id }) => (await batch.jobs.get(id)).inputSha256));
  t.is(new Set(digests).size, 2);
});

onBucket('the same bytes, put again while their job runs, are a new input', async (t, bucket) => {
  await replacedBeforeRemoval(t, bucket, 'first');
});

onBucket(
  'the object of a failed job stays and is left alone until a rescan, also after a start',
  async (t, bucket) => {
    await bucket.put('in/a.pdf', 'not a PDF');
    const fixture = await watching(t, bucket);
    await fixture.reach('Failed', 1);
    await bucket.put('in/b.txt', 'good');
    await fixture.reach('Completed', 1);
    await fixture.close();
    const again = await watching(t, bucket, { root: fixture.layout.root });
    await bucket.put('in/c.txt', 'good');
    await again.reach('Completed', 2);
    t.is(again.batch.count(['Failed']), 1);
    const { totals } = await again.batch.folders.rescan(undefined);
    t.is(totals.enqueued, 1);
    await again.reach('Failed', 2);
    await bucket.put('in/a.pdf', 'neither is this');
    await again.reach('Failed', 3);
    t.true((await bucket.keys()).includes('in/a.pdf'));
  },
);

onBucket('a watcher that used up its budget does not hold the stop of the service', async (t, bucket) => {
  const fixture = await watching(t, bucket);
  const long = (name: string) => `in/${Array(4).fill('x'.repeat(220)).join('/')}/${name}.txt`;
  const status = async () => (await fixture.batch.folders.list())[0];
  for (const name of ['a', 'b']) {
    await bucket.put(long(name), name);
    // One after the other: failures of one burst count once.
    await reached(async () => ((await status())?.processedCount ?? 0) >= (name === 'a' ? 1 : 2));
  }
  await reached(async () => (await status())?.status === 'Stopped');
  // Longer than the test may take.
  await fixture.services.stop(600_000);
  t.pass();
});

onBucket(
  'a server that is silent is asked once more, and its listing does not hold a stop',
  async (t, bucket) => {
    const link = await between(t, bucket.options.endpoint);
    let silent: (() => void) | undefined;
    let asked = 0;
    link.interfere = ({ url = '' }) => {
      if (silent === undefined || !url.includes('list-type')) return undefined;
      asked += 1;
      silent();
      return 'taken';
    };
    const list = () =>
      bucketsAt(link.endpoint, bucket.options).list(bucket.options.bucket, { prefix: '', recursive: true });
    silent = () => {};
    await t.throwsAsync(list(), { code: 'storage.unavailable', message: /TimeoutError/ });
    t.true(asked > 0 && asked <= 2, `${asked}`);
    silent = undefined;
    // Far above the patience of the test.
    const fixture = await watching(t, bucket, { ...link, timeout: 600_000 });
    await new Promise<void>((resolve) => {
      silent = resolve;
    });
    await fixture.close();
  },
);

onBucket(
  'an object that listings leave out, forget and show after its removal has one job',
  async (t, bucket) => {
    const link = await between(t, bucket.options.endpoint);
    let shown: string | undefined = '';
    let listings = 0;
    link.interfere = ({ url = '' }, response) => {
      if (!url.includes('list-type')) return undefined;
      listings += 1;
      if (shown === undefined) return undefined;
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(`<ListBucketResult><IsTruncated>false</IsTruncated>${shown}</ListBucketResult>`);
      return 'taken';
    };
    /** Two whole listings: one may have begun before. */
    const listed = async (as: string | undefined) => {
      shown = as;
      const before = listings;
      await reached(async () => listings >= before + 3);
    };
    const { ETag = '' } = await bucket.put('in/a.txt', 'content');
    const fixture = await watching(t, bucket, link);
    const { batch } = fixture;
    await batch.pipeline.pause(null);
    await listed('');
    t.is(batch.count(), 0);
    await listed(undefined);
    await fixture.reach('Queued', 1);
    await listed('');
    await listed(undefined);
    t.is(batch.count(), 1);
    await batch.pipeline.resume(null);
    await reached(async () => (await bucket.keys()).length === 0);
    await listed('');
    const modified = new Date().toISOString();
    await listed(
      `<Contents><Key>in/a.txt</Key><LastModified>${modified}</LastModified><ETag>${ETag}</ETag><Size>7</Size></Contents>`,
    );
    t.is(batch.count(), 1);
    t.is((await batch.folders.list())[0]?.lastError ?? null, null);
    t.deepEqual(outputs(fixture), ['a.signed.txt']);
  },
);

onBucket('faults of the server delay objects, and none is lost or signed twice', async (t, bucket) => {
  const link = await between(t, bucket.options.endpoint);
  let number = 0;
  link.interfere = ({ method }, response) => {
    number += 1;
    // Less often than the client repeats a request.
    if (number % 5 === 1) {
      response.writeHead(503, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SlowDown</Code></Error>');
      return 'taken';
    }
    if (number % 7 === 2) {
      response.destroy();
      return 'taken';
    }
    // Never answered: the client ends it.
    if (number % 11 === 3) return 'taken';
    return method === 'GET' && number % 2 === 0 ? 'broken' : undefined;
  };
  const names = Array.from({ length: 8 }, (_, at) => `${at}.txt`);
  for (const name of names) await bucket.put(`in/${name}`, name.repeat(1_000));
  const fixture = await watching(t, bucket, { ...link, timeout: 1_000 });
  await fixture.reach('Completed', names.length);
  await reached(async () => (await bucket.keys()).length === 0);
  t.deepEqual(
    outputs(fixture),
    names.map((name) => name.replace('.', '.signed.')),
  );
  t.is(fixture.batch.count(), names.length);
});

onBucket(
  'a bucket that refuses or is away is said by its check and watched until it is back',
  async (t, bucket) => {
    const link = await between(t, bucket.options.endpoint);
    let refused: RegExp | undefined = /list-type/;
    link.interfere = ({ url = '' }, response) => {
      return refused?.test(url) === true ? refuse(response) : undefined;
    };
    await bucket.put('in/a.txt', 'a');
    const fixture = await watching(t, bucket, link);
    const check = async () =>
      (await fixture.batch.health.checks()).find(({ name }) => name === 'input-folder:scans');
    await reached(async () => (await check())?.status === 'Unhealthy');
    t.regex((await check())?.detail ?? '', /refuses s3:ListBucket \(AccessDenied\)/);
    await fixture.upload('b.txt', 'uploads go on');
    await fixture.reach('Completed', 1);
    // The object alone is refused, longer than the budget of the folder.
    refused = /\/in\/a.txt/;
    await reached(async () => (await check())?.status === 'Healthy');
    await reached(async () => /s3:GetObject/.test((await fixture.batch.folders.list())[0]?.lastError ?? ''));
    await bucket.put('in/c.txt', 'c');
    await fixture.reach('Completed', 2);
    refused = undefined;
    await fixture.reach('Completed', 3);
    t.is((await fixture.batch.folders.list())[0]?.status, 'Running');
  },
);

onBucket('a bucket that goes away after its job has begun delays its own jobs alone', async (t, bucket) => {
  const link = await between(t, bucket.options.endpoint);
  let is: 'there' | 'away' | 'back' = 'there';
  link.interfere = ({ method, url = '', headers: { range } }, response) => {
    // Only jobs read whole objects.
    if (is === 'there' && method === 'GET' && !range && !url.includes('list-type')) is = 'away';
    if (is !== 'away') return undefined;
    response.destroy();
    return 'taken';
  };
  const files = `${await temporaryRoot(t)}/files`;
  mkdirSync(files);
  const fixture = await watching(t, bucket, { ...link, files });
  const { batch } = fixture;
  await batch.pipeline.pause(null);
  for (const name of ['a', 'b', 'c']) await bucket.put(`in/${name}.txt`, name);
  await fixture.reach('Queued', 3);
  await batch.pipeline.resume(null);
  await reached(() => is === 'away');
  await fixture.upload('d.txt', 'd');
  writeFileSync(`${files}/e.txt`, 'e');
  await fixture.reach('Completed', 2);
  t.is(batch.count(['Queued']), 3);
  const { items } = await batch.jobs.list({ statuses: ['Queued'], page: 1, pageSize: 10 });
  const waiting = await Promise.all(items.map(({ id }) => batch.jobs.get(id)));
  // The others were not tried.
  t.deepEqual(waiting.map(({ history }) => history.length).sort(), [1, 1, 3]);
  const canceled = waiting.find(({ history }) => history.length === 1);
  if (canceled === undefined) return t.fail();
  await batch.jobs.cancel(canceled.id, null);
  is = 'back';
  await fixture.reach('Completed', 4);
  await reached(async () => (await bucket.keys()).length === 1);
  t.is(batch.count(), 5);
  t.is(outputs(fixture).length, 4);
  const tried = waiting.find(({ history }) => history.length === 3);
  const { history } = await batch.jobs.get(tried?.id ?? canceled.id);
  t.is(history[2]?.status, 'Queued');
  t.regex(
    history[2]?.message ?? '',
    /^Waits for its input: bucket .* failed with (?:ECONNRESET|TimeoutError)\.$/,
  );
  t.deepEqual(
    history.map(({ status }) => status),
    ['Queued', 'Processing', 'Queued', 'Processing', 'Verifying', 'Completed'],
  );
});

onBucket('refusals in a row fail a job, and an outage begins their count anew', async (t, bucket) => {
  const link = await between(t, bucket.options.endpoint);
  let how: 'refused' | 'away' | undefined = 'refused';
  link.interfere = (_, response) => {
    if (how === 'refused') return refuse(response);
    if (how === undefined) return undefined;
    response.destroy();
    return 'taken';
  };
  await bucket.put('in/a.txt', 'a');
  const originals = new BucketOriginals(
    bucketsAt(link.endpoint, bucket.options, 20_000),
    systemIds,
    await temporaryRoot(t),
  );
  const read = () => originals.withCopy(`s3://${bucket.options.bucket}/in/a.txt`, async () => 'read');
  const fails = async (code: string, again = true) => {
    const error = await t.throwsAsync(read());
    t.is((error as { code?: unknown } | undefined)?.code, code);
    t.is(isRetryable(error), again);
  };
  for (const then of ['away', undefined] as const) {
    how = 'refused';
    for (let time = 0; time < 4; time += 1) await fails('input.unreadable');
    how = then;
    if (then === undefined) t.is(await read(), 'read');
    else await fails('storage.unavailable');
  }
  how = 'refused';
  for (let time = 0; time < 4; time += 1) await fails('input.unreadable');
  await fails('input.unreadable', false);
});

onBucket(
  'jobs are cleared while their bucket refuses, and their objects are not taken again',
  async (t, bucket) => {
    const link = await between(t, bucket.options.endpoint);
    await bucket.put('in/a.pdf', 'not a PDF');
    const fixture = await watching(t, bucket, link);
    await fixture.reach('Failed', 1);
    link.interfere = ({ url = '' }, response) => {
      if (!url.includes('/in/a.pdf')) return undefined;
      response.writeHead(403).end();
      return 'taken';
    };
    // Its files may have to be put aside first.
    await reached(async () => (await fixture.batch.bulk.clear()).deleted === 1);
    t.is(fixture.batch.count(), 0);
    await fixture.close();
    const again = await watching(t, bucket, { root: fixture.layout.root });
    await bucket.put('in/b.txt', 'good');
    await again.reach('Completed', 1);
    t.is(again.batch.count(), 1);
  },
);

onBucket(
  'an original that a long outage leaves in its bucket is removed when the bucket is back',
  async (t, bucket) => {
    const link = await between(t, bucket.options.endpoint);
    let is: 'there' | 'away' | 'back' = 'there';
    let removals = 0;
    link.interfere = ({ method, url = '' }, response) => {
      if (is !== 'away') return undefined;
      if (method === 'HEAD' && url.includes('/in/a.txt')) removals += 1;
      response.destroy();
      return 'taken';
    };
    const clock = new HastyClock();
    await bucket.put('in/a.txt', 'a');
    const fixture = await watching(t, bucket, { ...link, clock, timeout: 1_000 });
    fixture.faults.arm('effect.leased.before-run/tidy', () => {
      is = is === 'there' ? 'away' : is;
    });
    await fixture.reach('Completed', 1);
    clock.haste(300);
    // The client asks three times for each attempt of the job.
    await reached(async () => removals > 3 * 14);
    clock.haste(1);
    const { totalCount } = await fixture.batch.events.list({
      kinds: ['InputNotRemoved'],
      page: 1,
      pageSize: 1,
    });
    t.is(totalCount, 0);
    t.deepEqual(await bucket.keys(), ['in/a.txt']);
    is = 'back';
    clock.haste(300);
    await reached(async () => (await bucket.keys()).length === 0);
    await reached(async () => (await fixture.batch.bulk.clear()).deleted === 1);
    t.deepEqual(outputs(fixture), ['a.signed.txt']);
  },
);

onBucket(
  'two nodes sign each object of an input once, though one is killed and the clock of the other is wrong',
  async (t, bucket) => {
    const cluster = await startServer();
    t.teardown(() => cluster.remove());
    const { endpoint, accessKeyId = '', secretAccessKey = '', bucket: name } = bucket.options;
    let keys: string | undefined;
    const start = async (node: string, env?: Readonly<Record<string, string>>) => {
      const root = await temporaryRoot(t);
      if (keys !== undefined) cpSync(keys, `${root}/keys`, { recursive: true });
      keys ??= `${root}/keys`;
      return Service.startOne(t, {
        root,
        ...(env && { env }),
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:NodeName': node,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': 2,
          'Runtime:Shards': 1,
          'Storage:Objects:Kind': 'S3',
          'Storage:Objects:S3:Bucket': name,
          'Storage:Objects:S3:Prefix': 'own',
          'Storage:Objects:S3:Endpoint': endpoint,
          'Storage:Objects:S3:AccessKeyId': accessKeyId,
          'Storage:Objects:S3:ForcePathStyle': true,
          'Storage:Objects:S3:SecretAccessKey': secretAccessKey,
          'Storage:Inputs:0:Name': 'scans',
          'Storage:Inputs:0:Kind': 'S3',
          'Storage:Inputs:0:Bucket': name,
          'Storage:Inputs:0:Prefix': 'in',
          'Storage:Inputs:0:PollIntervalSeconds': 5,
        },
      });
    };
    const first = await start('first');
    // A server of objects refuses signatures that are off by 15 minutes.
    const second = await start('second', {
      NODE_OPTIONS: `--import=${new URL('../../../postgres/shifted-clock.js', import.meta.url).href}`,
      SEALWRIGHT_TEST_CLOCK_MS: String(20 * 60_000),
    });
    const names = Array.from({ length: 12 }, (_, at) => `${at}.txt`);
    for (const one of names) await bucket.put(`in/${one}`, one);
    await reached(async () => (await second.count('Completed')) >= 2);
    await first.kill();
    for (const one of names) await bucket.put(`in/late-${one}`, `late ${one}`);
    const retried = new Set<string>();
    await second.until(
      'every object to be removed',
      async () => {
        // Jobs that the killed node had begun fail, and their objects stay.
        for (const { id } of await second.jobs('&status=Failed')) {
          if (retried.has(id)) continue;
          retried.add(id);
          await second.json(`/api/jobs/${id}/retry`, { method: 'POST' });
        }
        return (await bucket.keys()).some((key) => key.startsWith('in/')) ? undefined : true;
      },
      80,
    );
    const jobs = (await second.jobs()).filter(({ id }) => !retried.has(id));
    t.deepEqual(
      jobs.map(({ fileName, status }) => `${fileName} ${status}`).sort(),
      [...names, ...names.map((one) => `late-${one}`)].map((one) => `${one} Completed`).sort(),
    );
    const stored = (await bucket.keys()).filter((key) => key.startsWith('own/batch/output/'));
    t.deepEqual(
      stored.sort(),
      jobs.map(({ fileName }) => `own/batch/output/${fileName.replace('.', '.signed.')}`).sort(),
    );
  },
);

onBucket(
  'kills before and after the removal of the object leave one output of each object',
  async (t, bucket) => {
    const { endpoint, accessKeyId = '', secretAccessKey = '', bucket: name } = bucket.options;
    const root = await temporaryRoot(t);
    const settings = {
      'Storage:Objects:S3:Endpoint': endpoint,
      'Storage:Objects:S3:ForcePathStyle': true,
      'Storage:Objects:S3:AccessKeyId': accessKeyId,
      'Storage:Objects:S3:SecretAccessKey': secretAccessKey,
      'Storage:Inputs:0:Name': 'scans',
      'Storage:Inputs:0:Kind': 'S3',
      'Storage:Inputs:0:Bucket': name,
      'Storage:Inputs:0:PollIntervalSeconds': 5,
      'Portal:Enabled': false,
    };
    await bucket.put('a.txt', 'content');
    const first = await Service.startOne(t, { root, settings, faults: 'pool.tidy.removed=kill:1' });
    t.is(await first.ended, 'SIGKILL');
    t.deepEqual(await bucket.keys(), ['a.txt']);
    const faults = 'effect.done.before-outcome/tidy=kill:1';
    const second = await Service.startOne(t, { root, settings, faults });
    t.is(await second.ended, 'SIGKILL');
    // Removed, and no step records it: what comes under the key meanwhile is another object.
    t.deepEqual(await bucket.keys(), []);
    await bucket.put('a.txt', 'content');
    const third = await Service.startOne(t, { root, settings });
    await bucket.put('b.txt', 'next');
    const jobs = () => third.jobs();
    await reached(async () => (await jobs()).filter(({ status }) => status === 'Completed').length === 3);
    await reached(async () => (await bucket.keys()).length === 0);
    t.is((await jobs()).length, 3);
    const names = readdirSync(`${root}/output`).map((name) => name.replace(/-[0-9a-f]{8}/, '-<id>'));
    t.deepEqual(names.sort(), ['a-<id>.signed.txt', 'a.signed.txt', 'b.signed.txt']);
  },
);
