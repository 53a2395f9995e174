/**
 * Three nodes, one of which dies at the moments that matter: in the middle of an upload, while its pool signs, between a
 * rename and its step. What was answered is there, once; what was cut off goes on at another node.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Client } from '../actors/portal/documents/killed-portal.ts';
import { casesOf } from '../project/rounds.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { brokenPromises, sha256 } from '../service/signing/evidence.ts';
import { runTool } from '../verifiers/index.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

const SECRET = 'ab'.repeat(32);
/** The key that `Client` uses. */
const KEY = `killed|${SECRET}`;

interface ClusterFixture {
  /** Two nodes that live on. */
  readonly others: readonly [Service, Service];
  readonly root: string;
  /** Starts the node that dies. */
  start(faults?: string): Promise<Service>;
  /** Uploads that were answered, of all tests. */
  readonly accepted: string[];
}

const test = withTools(anyTest as TestFn<ClusterFixture>, 'postgres');
const tasks: (() => unknown)[] = [];
const teardown = (task: () => unknown) => void tasks.push(task);

test.before(async (t) => {
  const cluster = await startServer();
  const root = await temporaryRoot({ teardown });
  const start = (node: string, faults?: string) => {
    return Service.startOne(
      { teardown },
      {
        root,
        ...(faults !== undefined && { faults }),
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': 3,
          'Runtime:NodeName': node,
          'Runtime:Shards': 1,
          'Pipeline:MaxConcurrency': 2,
          'Portal:Enabled': true,
          'Portal:Bootstrap:Application': 'killed',
          'Portal:Bootstrap:Secret': SECRET,
        },
      },
    );
  };
  if (cluster !== undefined) teardown(() => cluster.remove());
  const others = cluster && ([await start('node-2'), await start('node-3')] as const);
  t.context = { others, root, start: (faults) => start('node-1', faults), accepted: [] };
});

test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

/** Runs `check` with the two nodes that live on. */
function withOthers(
  title: string,
  check: (t: ExecutionContext<ClusterFixture>, others: readonly [Service, Service]) => Promise<void>,
): void {
  test.serial(title, async (t) => {
    t.timeout(240_000);
    const { others } = t.context;
    await check(t, others);
  });
}

/** Uploads through one node, until it is gone or has enough. */
async function uploads(
  t: ExecutionContext<ClusterFixture>,
  node: Service,
  words: string,
  end: () => boolean,
) {
  for (let number = 0; number < 500 && !end(); number += 1) {
    const answer = await node.upload(`${words}-${number}.txt`, `${words} ${number}`).catch(() => undefined);
    if (answer !== undefined) t.context.accepted.push(answer.jobId);
  }
}

/** Waits until nothing is broken, and says what is. */
async function nothingIsLost(t: ExecutionContext<ClusterFixture>, node: Service): Promise<void> {
  const broken = async () => {
    const found = await brokenPromises(node, { accepted: t.context.accepted, dropped: [] });
    // An upload that was cut off: for all that the others know, it still arrives.
    return found.filter((promise) => !/^input\/\..*\.part was left behind$/.test(promise));
  };
  await node.idle();
  await node
    .until('everything to be put away', async () => ((await broken()).length === 0 ? true : undefined))
    .catch(async () => t.deepEqual(await broken(), []));
}

for (const point of casesOf(
  ['upload.committed', 'pool.sign.signed'],
  ['upload.synced', 'upload.renamed', 'pool.sign.staged', 'pool.release.linked', 'pool.tidy.removed'],
)) {
  withOthers(`a kill of one of three nodes at ${point} loses nothing`, async (t, [two, three]) => {
    const one = await t.context.start(`${point}=kill:4`);
    let isGone = false;
    const gone = one.ended.finally(() => {
      isGone = true;
    });
    await Promise.all(
      [one, one, two, three].map((node, at) => uploads(t, node, `${point}-${at}`, () => isGone)),
    );
    t.is(await gone, 'SIGKILL');
    await nothingIsLost(t, three);
  });
}

for (const [point, pass] of casesOf(
  [
    ['portal.sign.accepted', 1],
    ['portal.signature.kept', 2],
  ],
  [
    ['portal.create.all', 1],
    ['portal.seal.signed', 1],
    ['portal.conclusion.checked', 1],
  ],
)) {
  withOthers(
    `a document goes on at another node after a kill at ${point}, and has each signature once`,
    async (t, [two]) => {
      const one = await t.context.start(`${point}=kill:${pass}`);
      let isAlive = true;
      const gone = one.ended.finally(() => {
        isAlive = false;
      });
      const before = await documentsOf(two);
      await new Client(one).create(1);
      const ids = await two.until('the document to be there', async () => {
        const found = (await documentsOf(two)).filter((id) => !before.includes(id));
        return found.length > 0 ? found : undefined;
      });
      t.is(ids.length, 1);
      const [id = ''] = ids;
      while (isAlive) {
        await new Client(one).sign(id).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      t.is(await gone, 'SIGKILL');
      const client = new Client(two);
      await two.until(`document ${id} to be concluded`, async () => {
        const { status, flowActions } = await client.detail(id);
        if (status === 'Pending' && flowActions.some((action) => action.status === 'Pending'))
          await client.sign(id).catch(() => undefined);
        return status === 'Concluded' ? true : undefined;
      });
      const path = join(t.context.root, `${id}.pdf`);
      await writeFile(path, await client.content(id));
      const { stdout } = await runTool('pdfsig', ['-nocert', path]);
      t.is(stdout.match(/Signature is Valid/g)?.length, 2, stdout);
      t.is(stdout.match(/Signature Type/g)?.length, 2, stdout);
    },
  );
}

async function documentsOf(node: Service): Promise<readonly string[]> {
  const answer = await new Client(node).call<{ items: { id: string }[] }>('GET', '/api/documents?limit=100');
  return answer?.items.map(({ id }) => id) ?? [];
}

const BOUNDARY = 'cut';

/** A form with one file. */
function formOf(name: string, content: Buffer): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/** Sends half of a form to `path`, and kills the node once `hasBegun` says that it is writing the file. */
async function cutOff(
  node: Service,
  url: string,
  {
    headers,
    body,
    hasBegun,
  }: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Buffer;
    readonly hasBegun: () => Promise<boolean>;
  },
): Promise<void> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const lines = Object.entries({
    Host: `${hostname}:${port}`,
    'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
    'Content-Length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(body.subarray(0, body.length / 2));
  await node.until('the file to be written', async () => ((await hasBegun()) ? true : undefined));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await node.kill();
  await closed;
}

withOthers(
  'an upload interrupted by the end of its node makes one job when it is repeated at another one',
  async (t, [two, three]) => {
    const one = await t.context.start();
    const content = Buffer.alloc(3_000_000, 'a page of text; ');
    const headers = { 'X-API-Key': await one.key(), 'Idempotency-Key': 'cut-off' };
    const input = join(t.context.root, 'input');
    const before = (await readdir(input)).length;
    await cutOff(one, `${one.url}/api/files`, {
      headers,
      body: formOf('cut.txt', content),
      hasBegun: async () => (await readdir(input)).length > before,
    });
    const send = async (node: Service) => {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(content)]), 'cut.txt');
      const answer = await node.fetch('/api/files', { method: 'POST', body: form, headers });
      t.is(answer.status, 202, await answer.clone().text());
      return ((await answer.json()) as { jobId: string }).jobId;
    };
    const id = await send(two);
    t.is(await send(three), id, 'the same upload');
    t.context.accepted.push(id);
    t.is((await three.finished(id)).status, 'Completed');
    t.is((await three.jobs()).filter(({ fileName }) => fileName === 'cut.txt').length, 1);
    await nothingIsLost(t, two);
  },
);

withOthers(
  'a segmented upload continues at another node after its node ended in the middle of a segment',
  async (t, [two, three]) => {
    const one = await t.context.start();
    const size = 1_500_000;
    const content = Buffer.concat(['a', 'b', 'c'].map((letter) => Buffer.alloc(size, letter)));
    const opened = await fetch(`${two.portalUrl}/api/uploads/segmented-upload-ticket/`, {
      method: 'POST',
      headers: { 'X-Api-Key': KEY },
    });
    const ticket = (await opened.json()) as string;
    const rangeOf = (at: number) => `bytes ${at * size}-${(at + 1) * size - 1}/${content.length}`;
    const pieceOf = (at: number) => content.subarray(at * size, (at + 1) * size);
    const piece = (node: Service, at: number) =>
      fetch(`${node.portalUrl}/api/uploads?ticket=${ticket}`, {
        method: 'POST',
        headers: {
          'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
          'Content-Range': rangeOf(at),
        },
        body: new Uint8Array(formOf('pieces.bin', pieceOf(at))),
      });
    t.is((await piece(one, 0)).status, 200);
    const files = async () => (await readdir(join(t.context.root, 'portal'), { recursive: true })).length;
    const before = await files();
    await cutOff(one, `${one.portalUrl}/api/uploads?ticket=${ticket}`, {
      headers: { 'Content-Range': rangeOf(1) },
      body: formOf('pieces.bin', pieceOf(1)),
      hasBegun: async () => (await files()) > before,
    });
    t.is((await piece(three, 1)).status, 200);
    const last = await piece(two, 2);
    t.is(last.status, 200);
    const portal = join(t.context.root, 'portal');
    const digest = sha256(content);
    const names = await readdir(portal, { recursive: true });
    const blob = names.find((name) => name.includes(digest));
    t.is(blob && sha256(await readFile(join(portal, blob))), digest);
  },
);
