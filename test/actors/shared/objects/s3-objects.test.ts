/** Files in a bucket of a real server, which is late, refuses, breaks off and comes back. */
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { type Retryable, systemClock, systemIds } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { StoreRefusal } from '../../../../actors/shared/objects/object-store.ts';
import { openS3, type S3Options, type S3Parts } from '../../../../actors/shared/objects/s3-objects.ts';
import { run } from '../../../commands/program.ts';
import { startServer } from '../../../postgres/cluster.ts';
import { reached } from '../../../project/waiting.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { withTools } from '../../../verifiers/tool.ts';
import { Client, SAMPLE, until } from '../../portal/service.ts';
import { assertObjectContract, contentOf, fileOf } from './object-contract.ts';
import { type Radosgw, sharedRadosgw } from './radosgw.ts';

const test = withTools(anyTest as TestFn<{ server: Radosgw }>, 'radosgw', 'postgres');

test.before(async (t) => {
  t.context.server = await sharedRadosgw();
});

/** One test after the other: some of them stop the server. */
function onServer(title: string, run: (t: ExecutionContext, server: Radosgw) => Promise<void>): void {
  test.serial(title, async (t) => {
    const { server } = t.context;
    await run(t, server);
  });
}

const open = (options: S3Options, parts: Partial<S3Parts> = {}) =>
  openS3(options, { clock: systemClock, ids: systemIds, ...parts });

const digest = (bytes: Buffer | undefined) =>
  createHash('sha256')
    .update(bytes ?? '')
    .digest('hex');

onServer('a bucket keeps the contract of an object store', async (t, server) => {
  const objects = await open(await server.bucket());
  await assertObjectContract(t, objects);
  t.true(objects.isConditional);
});

onServer('a key that no server takes is refused for good, not held for', async (t, server) => {
  const objects = await open(await server.bucket());
  const key = `batch/output/${'ж'.repeat(600)}`;
  await t.throwsAsync(objects.put(key, fileOf(t, Buffer.from('a'))), { message: /more than 1024 bytes/ });
  t.is(await objects.head(key), undefined);
});

test('an output is never put without its condition, whatever the server says meanwhile', async (t) => {
  const conditions: unknown[] = [];
  const agents = new Set<string | undefined>();
  // Answers as a gateway that forgets the condition for a while.
  const server = createHttpServer((request, response) => {
    request.resume();
    agents.add(request.headers['user-agent']);
    if (request.method === 'PUT') conditions.push(request.headers['if-none-match']);
    const status = request.method === 'PUT' ? 501 : 404;
    request.on('end', () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const objects = await open({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    bucket: 'bucket',
    prefix: '',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    forcePathStyle: true,
    serverSideEncryption: false,
  });
  const put = objects.put('batch/output/a', fileOf(t, Buffer.from('a')), { owner: 'job-1' });
  await t.throwsAsync(put, { message: /s3:PutObject/ });
  t.true(conditions.length > 0);
  t.true(conditions.every((condition) => condition === '*'));
  t.true(agents.has(undefined), 'one came without the layers of the client, which names itself');
});

/** A server between client and store; `breaks` is told of each connection before any byte. */
async function between(
  t: ExecutionContext,
  endpoint: string,
  breaks: (client: Socket, store: Socket, count: number) => 'refused' | undefined,
): Promise<string> {
  const { port } = new URL(endpoint);
  let count = 0;
  const server = createServer((client) => {
    const store = connect(Number(port), '127.0.0.1');
    for (const socket of [client, store]) socket.on('error', () => {});
    client.on('close', () => store.destroy());
    // First, so that what it breaks off never gets through.
    if (breaks(client, store, ++count) === 'refused') return;
    store.on('close', () => client.destroy());
    store.pipe(client);
    client.pipe(store);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

onServer('a connection that is reset in the middle of a part loses nothing', async (t, server) => {
  const options = await server.bucket();
  const content = randomBytes(20_000_000);
  let resets = 0;
  const endpoint = await between(t, options.endpoint, (client) => {
    let bytes = 0;
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes < 3_000_000 || resets >= 2) return;
      resets += 1;
      client.resetAndDestroy();
    });
    return undefined;
  });
  const objects = await open({ ...options, endpoint });
  t.is(await objects.put('big', fileOf(t, content)), 'stored');
  t.is(resets, 2);
  t.is(digest(await contentOf(objects, 'big')), digest(content));
});

for (const [answer, times] of [
  ['503 Slow Down', 2],
  ['409 Conflict', 1],
] as const)
  onServer(`a server that answers ${answer} is tried again`, async (t, server) => {
    const options = await server.bucket();
    let refused = 0;
    const endpoint = await between(t, options.endpoint, (client, store, count) => {
      if (count > times) return undefined;
      refused += 1;
      store.destroy();
      client.once('data', () =>
        client.end(`HTTP/1.1 ${answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`),
      );
      return 'refused';
    });
    const objects = await open({ ...options, endpoint });
    t.is(await objects.put('key', fileOf(t, Buffer.from('content'))), 'stored');
    t.is(refused, times);
    t.deepEqual(await contentOf(objects, 'key'), Buffer.from('content'));
  });

onServer(
  'the client repeats a plain request that is refused, breaks off or has a wrong time',
  async (t, server) => {
    const options = await server.bucket();
    const asked: string[] = [];
    let answer: string | undefined;
    const endpoint = await between(t, options.endpoint, (client, store) => {
      client.on('data', (chunk: Buffer) => {
        const [, method] = /^([A-Z]+) \S+ HTTP/.exec(chunk.toString('latin1')) ?? [];
        if (method === undefined) return;
        // The client numbers its attempts in a header.
        asked.push(/amz-sdk-request/i.test(chunk.toString('latin1')) ? `client ${method}` : method);
        if (answer === undefined) return;
        client.end(answer);
        answer = undefined;
        store.destroy();
      });
      return undefined;
    });
    const objects = await open({ ...options, endpoint });
    const file = fileOf(t, Buffer.from('content'));
    const requests = async (use: () => Promise<unknown>) => {
      asked.length = 0;
      await use();
      return asked.join(', ');
    };
    t.is(await requests(() => objects.put('first', file)), 'client PUT');
    t.is(await requests(() => objects.put('a', file, { owner: 'job-1' })), 'PUT');
    t.is(await requests(() => objects.put('a', file)), 'PUT');
    t.is((await objects.head('a'))?.owner, 'job-1');
    t.is(
      await requests(async () =>
        t.deepEqual(await contentOf(objects, 'a', { from: 3 }), Buffer.from('tent')),
      ),
      'GET',
    );
    answer = 'HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
    t.is(await requests(() => objects.put('b', file, { replace: true })), 'PUT, client PUT');
    answer = '';
    t.is(await requests(() => objects.remove('b')), 'DELETE, client DELETE');
    t.is(await objects.head('b'), undefined);
    t.is(await requests(async () => t.is(await objects.get('b'), undefined)), 'GET, client GET');
    const { now } = Date;
    t.teardown(() => {
      Date.now = now;
    });
    Date.now = () => now() - 20 * 60_000;
    t.is(await requests(() => objects.put('c', file, { replace: true })), 'PUT, client PUT, client PUT');
    t.is(await requests(() => objects.put('d', file, { replace: true })), 'PUT');
  },
);

onServer('an answer that breaks off is an error, not a shorter file', async (t, server) => {
  const options = await server.bucket();
  await (await open(options)).put('key', fileOf(t, randomBytes(2_000_000)));
  const endpoint = await between(t, options.endpoint, (client, store) => {
    let bytes = 0;
    store.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > 1_000_000) client.resetAndDestroy();
    });
    return undefined;
  });
  const objects = await open({ ...options, endpoint });
  await t.throwsAsync(contentOf(objects, 'key'), { code: 'storage.unavailable' });
});

onServer('what a file of many parts leaves after a failure is removed', async (t, server) => {
  const options = await server.bucket();
  let bytes = 0;
  const endpoint = await between(t, options.endpoint, (client, store) => {
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > 9_000_000) store.destroy();
    });
    // The server went away in the second part: the client can remove nothing either.
    if (bytes > 9_000_000) store.destroy();
    return undefined;
  });
  const broken = await open({ ...options, endpoint });
  const objects = await open(options);
  await t.throwsAsync(broken.put('big', fileOf(t, randomBytes(17_000_000))), { code: 'storage.unavailable' });
  t.is(await objects.head('big'), undefined);
  t.is(await objects.removeParts(Date.now() - 60_000), 0);
  t.is(await objects.removeParts(Date.now() + 60_000), 1);
  const left = await server.client().send(new ListMultipartUploadsCommand({ Bucket: options.bucket }));
  t.deepEqual(left.Uploads ?? [], []);
});

onServer('a wrong secret and each missing right are named', async (t, server) => {
  const options = await server.bucket();
  const wrong = await open({ ...options, secretAccessKey: 'wrong' });
  const found = await wrong.check();
  t.regex(found?.text ?? '', /refuses s3:PutObject \(SignatureDoesNotMatch\)$/);
  t.true(found?.isBlocking);
  const late = await t.throwsAsync(wrong.put('key', fileOf(t, Buffer.from('x'))), {
    code: 'storage.unavailable',
  });
  t.false(late instanceof StoreRefusal, 'keys that count no longer refuse everything: an outage');
  const missing = await open({ ...options, bucket: 'no-such-bucket' });
  t.regex((await missing.check())?.text ?? '', /no-such-bucket at \S+ does not exist$/);

  const guest = await server.addUser('guest');
  const RIGHTS = [
    'GetObject',
    'ListBucket',
    'ListBucketMultipartUploads',
    'AbortMultipartUpload',
    'DeleteObject',
  ];
  let passed = 0;
  const clock: typeof systemClock = Object.create(systemClock, {
    elapsed: { value: () => systemClock.elapsed() + passed },
  });
  const objects = await open({ ...options, ...guest }, { clock });
  t.regex((await objects.check())?.text ?? '', /refuses s3:PutObject \(AccessDenied\)$/);
  for (const right of [...RIGHTS, undefined]) {
    const allowed = ['PutObject', ...RIGHTS.filter((one) => one !== right)].map((one) => `s3:${one}`);
    const Resource = [`arn:aws:s3:::${options.bucket}`, `arn:aws:s3:::${options.bucket}/*`];
    const common = { Principal: { AWS: ['arn:aws:iam:::user/guest'] }, Resource };
    const Statement = [
      { ...common, Effect: 'Allow', Action: allowed },
      // The owner of an object may read it unless that is denied.
      ...(right === undefined ? [] : [{ ...common, Effect: 'Deny', Action: [`s3:${right}`] }]),
    ];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await server.client().send(new PutBucketPolicyCommand({ Bucket: options.bucket, Policy }));
    const found = await objects.check();
    if (right === undefined) t.is(found, undefined);
    else t.true(found?.text.endsWith(`refuses s3:${right} (AccessDenied)`), found?.text);
    if (right === 'DeleteObject') {
      t.false(found?.isBlocking);
      await t.throwsAsync(objects.remove('key'), { instanceOf: StoreRefusal });
    }
    if (right === 'GetObject') t.true(found?.isBlocking);
    if (right === 'AbortMultipartUpload') {
      t.deepEqual([await objects.check(), await objects.check()], [found, found]);
      const begun = await server.client().send(new ListMultipartUploadsCommand({ Bucket: options.bucket }));
      t.is(begun.Uploads?.length, 1, 'checks leave one upload, not one each');
    }
    passed += 600_000;
  }
  t.deepEqual((await objects.list('probes/')).objects, []);
});

onServer('sixty downloads that pause leave connections to other requests', async (t, server) => {
  const options = await server.bucket();
  await (await open(options)).put('key', fileOf(t, randomBytes(1_000_000)));
  let connections = 0;
  const endpoint = await between(t, options.endpoint, (client) => {
    connections += 1;
    client.on('close', () => (connections -= 1));
    return undefined;
  });
  const objects = await open({ ...options, endpoint }, { timeout: 60_000 });
  const paused = await Promise.all(Array.from({ length: 60 }, () => objects.get('key')));
  t.is((await objects.head('key'))?.length, 1_000_000);
  t.true(connections >= 60, `${connections}`);
  // Nobody has read a byte of them.
  for (const found of paused) found?.stream.destroy();
  await until(async () => connections <= 1 || undefined);
});

onServer('a clock that is twenty minutes late is corrected by the answer', async (t, server) => {
  const options = await server.bucket();
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() - 20 * 60_000;
  const objects = await open(options);
  t.is(await objects.check(), undefined);
  t.is(await objects.put('key', fileOf(t, Buffer.from('content'))), 'stored');
});

onServer(
  'a store that hangs is an error within its time, and works again without a restart',
  async (t, server) => {
    const clock = new SimulatedClock(Date.now());
    const objects = await open(await server.bucket(), { clock });
    /** Its end when so much time passes. */
    const after = async <End>(work: Promise<End>, elapsed: number) => {
      await reached(() => clock.pending > 0);
      clock.advance(elapsed);
      return work;
    };
    t.is(await objects.put('before', fileOf(t, Buffer.from('content'))), 'stored');
    server.osd.kill('SIGSTOP');
    try {
      const put = t.throwsAsync(objects.put('during', fileOf(t, Buffer.from('content'))), {
        code: 'storage.unavailable',
      });
      // The time of a request with its repetitions.
      await after(put, 16_100);
      t.regex((await after(objects.check(), 4_000))?.text ?? '', /cannot be used: s3:PutObject failed/);
    } finally {
      server.osd.kill('SIGCONT');
    }
    // Until then puts are refused at once.
    clock.advance(5_000);
    t.not(await objects.put('during', fileOf(t, Buffer.from('content'))), undefined);
    t.deepEqual(await contentOf(objects, 'during'), Buffer.from('content'));
    t.is(await objects.check(), undefined);
  },
);

onServer('a link reads one object, with its headers and by ranges, and nothing else', async (t, server) => {
  const objects = await open({ ...(await server.bucket()), presignDownloads: true });
  const key = "batch/output/a b+(c)'ж.pdf";
  const content = randomBytes(1000);
  await objects.put(key, fileOf(t, content));
  const file = { contentType: 'application/pdf', disposition: 'attachment; filename="a b.pdf"' };
  const link = (await objects.link?.(key, file)) ?? '';
  const whole = await fetch(link);
  t.is(whole.status, 200);
  t.is(whole.headers.get('content-type'), file.contentType);
  t.is(whole.headers.get('content-disposition'), file.disposition);
  t.deepEqual(Buffer.from(await whole.arrayBuffer()), content);
  const range = await fetch(link, { headers: { Range: 'bytes=10-19' } });
  t.is(range.status, 206);
  t.deepEqual(Buffer.from(await range.arrayBuffer()), content.subarray(10, 20));
  t.is(new URL(link).searchParams.get('X-Amz-Expires'), '60');
  for (const other of [
    link.replace('a%20b', 'a%20c'),
    link.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'),
    link.slice(0, link.indexOf('?')),
  ])
    t.is((await fetch(other)).status, 403);
  t.is((await open(await server.bucket())).link, undefined);
});

test('a request that gets no answer is repeated in the time that is left', async (t) => {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    request.resume().once('end', () => {
      const isOfClient = request.headers['amz-sdk-request'] !== undefined;
      asked.push(`${isOfClient ? 'client ' : ''}${request.method}`);
      if (isOfClient) response.writeHead(200, { ETag: '"e"' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const clock = new SimulatedClock(Date.now());
  const objects = await open(
    {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'r',
      bucket: 'b',
      prefix: '',
      accessKeyId: 'a',
      secretAccessKey: 's',
      forcePathStyle: true,
      serverSideEncryption: false,
    },
    { clock, timeout: 2_000 },
  );
  const file = fileOf(t, Buffer.from('content'));
  t.is(await objects.put('first', file), 'stored');
  const outcomes = [
    objects.put('second', file),
    objects.head('first').then((found) => found?.key),
    objects.get('first').then((found) => found?.stream.destroy() !== undefined),
    objects.remove('first').then(() => 'removed'),
  ];
  await reached(() => asked.length === 5);
  // The first requests are over then, and half of their time is left.
  clock.advance(2_000);
  t.deepEqual(await Promise.all(outcomes), ['stored', 'first', true, 'removed']);
  t.deepEqual(
    asked.sort(),
    [
      'client DELETE',
      'client GET',
      'client HEAD',
      'client PUT',
      'client PUT',
      'DELETE',
      'GET',
      'HEAD',
      'PUT',
    ].sort(),
  );
});

test('while a store hangs, one put at a time tries it and all others are refused at once, until it answers', async (t) => {
  let asked = 0;
  let hangs = true;
  const waiting: (() => void)[] = [];
  const server = createHttpServer((request, response) => {
    asked += request.method === 'PUT' ? 1 : 0;
    request.resume().once('end', () => {
      const answer = () => response.writeHead(200, { ETag: '"e"' }).end();
      if (hangs) waiting.push(answer);
      else answer();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const clock = new SimulatedClock();
  const objects = await open(
    {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'r',
      bucket: 'b',
      prefix: '',
      accessKeyId: 'a',
      secretAccessKey: 's',
      forcePathStyle: true,
      serverSideEncryption: false,
    },
    { clock, timeout: 10_000 },
  );
  const file = fileOf(t, Buffer.from('content'));
  const outcomes = Array.from({ length: 300 }, (_, at) =>
    objects.put(`${at}`, file).then(
      () => 'stored',
      (error: Retryable) => `${error.code} ${error.retryAfter}`,
    ),
  );
  const refused = 'storage.unavailable 5000';
  // Six are sent, 256 wait, the rest is refused.
  t.deepEqual(await Promise.all(outcomes.slice(262)), Array<string>(38).fill(refused));
  await reached(() => asked === 6);
  // The time of a transfer with its repetitions.
  clock.advance(16_000);
  t.deepEqual(new Set(await Promise.all(outcomes.slice(6))), new Set([refused]));
  for (const one of await Promise.all(outcomes.slice(0, 6))) t.regex(one, /^storage.unavailable/);
  t.is(asked, 6);
  clock.advance(5000);
  const trial = objects.put('trial', file);
  await t.throwsAsync(objects.put('other', file), { message: /does not answer/ });
  await reached(() => asked === 7);
  hangs = false;
  waiting.at(-1)?.();
  t.is(await trial, 'stored');
  t.is(await objects.put('other', file), 'stored');
});

onServer('two nodes on a database and a bucket share no folder, and lose nothing', async (t, server) => {
  t.timeout(110_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const secret = 'ab'.repeat(32);
  const { endpoint, bucket, accessKeyId, secretAccessKey } = await server.bucket();
  const common = {
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': cluster.url,
    'Storage:Objects:Kind': 'S3',
    'Storage:Objects:S3:Endpoint': endpoint,
    'Storage:Objects:S3:Bucket': bucket,
    'Storage:Objects:S3:AccessKeyId': accessKeyId ?? '',
    'Storage:Objects:S3:ForcePathStyle': true,
    'Storage:Objects:S3:SecretAccessKey': secretAccessKey ?? '',
  };
  let keys: string | undefined;
  const start = async (name: string, faults?: string) => {
    const root = await temporaryRoot(t);
    // Each node is given the keys of the program; it has nothing else of the others.
    if (keys !== undefined) cpSync(keys, join(root, 'keys'), { recursive: true });
    const service = await Service.startOne(t, {
      root,
      ...(faults !== undefined && { faults }),
      settings: {
        ...common,
        'Runtime:NodeName': name,
        'Runtime:Postgres:PoolSize': 4,
        'Runtime:LeaseSeconds': 2,
        'Portal:Enabled': true,
        'Portal:Bootstrap:Organization': 'Acme',
        'Portal:Bootstrap:Application': 'App',
        'Portal:Bootstrap:Secret': secret,
      },
    });
    keys ??= join(root, 'keys');
    return { root, service, client: new Client(service.portalUrl, `App|${secret}`) };
  };
  const first = await start('one', 'portal.upload.kept=kill:2');
  const second = await start('two');
  const upload = await first.client.upload();
  // Its file is in the bucket, and no step names it, when the process ends.
  const lost = {
    name: 'lost.pdf',
    type: 'application/pdf',
    content: Buffer.from('%PDF-1.7 of the killed node'),
  };
  await t.throwsAsync(first.client.upload(lost));
  rmSync(join(first.root, 'portal'), { recursive: true });

  const signer = { type: 'Signer', step: 1, allowElectronicSignature: true };
  const user = { name: 'Ann', email: 'ann@example.com', identifier: 'ann' };
  const [made] = await second.client.post<{ documentId: string }[]>('/api/documents', {
    files: [{ ...upload, displayName: SAMPLE.name }],
    flowActions: [{ ...signer, user }],
  });
  const path = `/api/documents/${made?.documentId}`;
  interface Detail {
    readonly status: string;
    readonly flowActions: readonly { readonly id: string; readonly status: string }[];
  }
  const pending = await until(async () => {
    const { flowActions } = await second.client.get<Detail>(path);
    return flowActions.find(({ status }) => status === 'Pending');
  });
  await second.client.post(`${path}/electronic-signature`, { flowActionId: pending.id });
  await until(async () =>
    (await second.client.get<Detail>(path)).status === 'Concluded' ? true : undefined,
  );
  const content = `${path}/content?type=Signatures`;
  const signed = Buffer.from(await (await second.client.fetch(content)).arrayBuffer());
  t.true(signed.length > SAMPLE.content.length);

  const third = await start('three');
  const range = await third.client.fetch(content, { headers: { Range: 'bytes=100-199' } });
  t.is(range.status, 206);
  t.deepEqual(Buffer.from(await range.arrayBuffer()), signed.subarray(100, 200));
  const whole = await third.client.fetch(content);
  t.deepEqual(Buffer.from(await whole.arrayBuffer()), signed);
  const printed = await third.client.fetch(`${path}/content?type=PrinterFriendlyVersion`);
  t.is(printed.status, 200);
  await printed.arrayBuffer();
  const again = await third.client.upload(lost);
  const preview = await second.client.fetch(again.location);
  t.deepEqual(Buffer.from(await preview.arrayBuffer()), lost.content);

  const ready = async () => {
    const answer = await fetch(`${third.service.url}/api/ready`);
    return { status: answer.status, text: await answer.text() };
  };
  t.is((await ready()).status, 200);
  server.osd.kill('SIGSTOP');
  try {
    const down = await until(async () => {
      const { status, text } = await ready();
      return status === 503 ? text : undefined;
    });
    t.regex(down, /"objects"/);
  } finally {
    // Other tests use the server, too.
    server.osd.kill('SIGCONT');
  }
  await until(async () => ((await ready()).status === 200 ? true : undefined));

  const words = Object.entries(common).map(([key, value]) => `--${key}=${value}`);
  const { code, out } = await run(third.root, ['verify-history', '--files', ...words]);
  t.is(code, 0);
  t.regex(out, /[1-9]\d* stored files have the SHA-256 of the history/);
});
