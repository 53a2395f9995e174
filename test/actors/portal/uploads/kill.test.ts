/** Everything the portal promises of uploads and keys when the process dies: at every fault point, and at any moment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { UNCOUNTED_GRACE_MS } from '../../../../actors/portal/uploads/blobs.ts';
import { PORTAL_UPLOAD_FAULTS } from '../../../../actors/portal/uploads/upload-faults.ts';
import { UPLOAD } from '../../../../actors/portal/uploads/uploads.ts';
import type { UploadContext } from '../../../../machines/portal/upload.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { PIECE_BYTES, pieceContent, TOTAL_BYTES, wholeContent } from './kill-content.ts';
import { openPortalStore, type PortalStoreFixture } from './upload-harness.ts';

const WORKER = new URL('./kill-worker.js', import.meta.url).pathname;

/** Runs the worker until it dies; resolves with what it promised. */
async function live(root: string, faults: string, killAfter: number): Promise<readonly string[][]> {
  const child: ChildProcess = spawn(process.execPath, [WORKER, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SEALWRIGHT_FAULTS: faults },
  });
  if (child.stdout === null) throw new Error('no output');
  const ended = once(child, 'exit');
  const promises: string[][] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    promises.push(line.split(' '));
    // A kill by count lands anywhere in the work in flight, and needs no clock.
    if (promises.length === killAfter) child.kill('SIGKILL');
  });
  const closed = once(lines, 'close');
  await Promise.all([ended, closed]);
  return promises;
}

function hexOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

async function inspect(
  t: ExecutionContext,
  it: PortalStoreFixture,
  promises: readonly string[][],
): Promise<void> {
  const of = (word: string) => promises.filter(([first]) => first === word);
  for (const [, id = '', sha256 = ''] of of('upload')) {
    const upload = await it.runtime.read(UPLOAD, id);
    const { blob } = (upload?.context ?? { blob: { sha256: '', length: 0 } }) as UploadContext;
    t.is(blob.sha256, sha256, id);
    t.is(hexOf(it.blobs.pathOf(blob)), sha256);
  }
  // Each upload in pieces goes on with those that were not acknowledged.
  for (const [, ticket = ''] of of('ticket')) {
    const done = of('piece').filter((piece) => piece[1] === ticket);
    const from = Math.min(done.length * PIECE_BYTES, TOTAL_BYTES - PIECE_BYTES);
    let view: { readonly sha256: string } | undefined;
    for (let at = from; at < TOTAL_BYTES; at += PIECE_BYTES) {
      const sink = await it.uploads.open();
      await sink.write(pieceContent(at));
      const range = { from: at, to: at + PIECE_BYTES - 1, total: TOTAL_BYTES };
      view = await it.uploads.acceptSegment(ticket, range, sink, { name: 'a.bin', contentType: 'a/b' });
    }
    t.is(view?.sha256, createHash('sha256').update(wholeContent()).digest('hex'));
  }
  const keys = of('key').map(([, ...words]) => words.join(' '));
  for (const key of keys.slice(-1)) t.truthy(await it.tenants.identify(key), 'the newest key');
}

async function round(t: ExecutionContext, faults: string, killAfter: number): Promise<void> {
  const root = folderFor(t);
  const promises = await live(root, faults, killAfter);
  const it = await openPortalStore(root);
  try {
    await inspect(t, it, promises);
    it.clock.forward(UNCOUNTED_GRACE_MS + 60_000);
    await it.blobs.sweep(it.store);
    // The sweep keeps acknowledged files and removes unreferenced ones.
    await inspect(
      t,
      it,
      promises.filter(([word]) => word === 'upload'),
    );
    t.deepEqual(await it.blobs.sweep(it.store), { removed: 0, bytes: 0 });
  } finally {
    await it.close();
  }
}

for (const point of Object.keys(PORTAL_UPLOAD_FAULTS)) {
  test(`nothing acknowledged is lost when the process is killed at ${point}`, async (t) => {
    await round(t, `${point}=kill:6`, Number.POSITIVE_INFINITY);
  });
}

for (const killAfter of [1, 20, 55]) {
  test(`no upload, segment or key is lost when the process is killed after ${killAfter} acknowledgements`, async (t) => {
    await round(t, '', killAfter);
  });
}
