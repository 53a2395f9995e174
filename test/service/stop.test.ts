import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { freshFolder, run } from '../commands/program.ts';
import { Service, temporaryRoot } from './service.ts';

/** Enough for what must end, little enough to wait for. */
const WAIT = { 'Hosting:ShutdownTimeoutSeconds': 2 };

const LENGTH = 100_000;
const BEGINNING = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nbeginning';
const END = '\r\n--b--\r\n';

/** Begins an upload and never ends it, so that the HTTP side has something to wait for. */
async function unendingUpload(service: Service, t: { teardown(task: () => void): void }): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  t.teardown(() => void socket.destroy());
  socket.on('error', () => {});
  const key = await service.key();
  socket.write(
    `POST /api/files HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: ${LENGTH}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\n\r\n${BEGINNING}`,
  );
  await service.until('the upload to begin', async () =>
    (await readdir(join(service.root, 'input'))).some((name) => name.endsWith('.part')) ? true : undefined,
  );
  return socket;
}

test.serial('after the signal no file is accepted, while running requests complete', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root, settings: WAIT });
  await unendingUpload(service, t);
  const ended = service.stop();
  await service.until('the stop to begin', async () =>
    service.printed.includes('Stopping') ? true : undefined,
  );
  await writeFile(join(root, 'input', 'late.txt'), 'dropped while it stops');
  t.is(await ended, 0);
  t.true(existsSync(join(root, 'input', 'late.txt')));
  t.deepEqual(await readdir(join(root, 'output')), []);
});

test.serial('a job that does not end in time is left to the next start, and the stop is clean', async (t) => {
  const root = await temporaryRoot(t);
  const first = await Service.start(t, { root, settings: WAIT, faults: 'pool.release.linked=hang' });
  await writeFile(join(root, 'input', 'stuck.txt'), 'its thread never comes back');
  await first.until('the job to hang', async () =>
    (await first.count('Processing')) === 1 && (await readdir(join(root, 'output'))).length === 1
      ? true
      : undefined,
  );
  t.is(await first.stop(), 0);
  const second = await Service.start(t, { root });
  await second.idle();
  const [job] = await second.jobs();
  t.like(job, { status: 'Failed', fileName: 'stuck.txt' });
  t.regex(job?.errorMessage ?? '', /restart/i);
  await second.until('the output to be put aside', async () =>
    (await readdir(join(root, 'output'))).length === 0 ? true : undefined,
  );
  t.true(existsSync(join(root, 'input', 'stuck.txt')));
  t.is(await second.stop(), 0);
});

/** True once nothing accepts connections. */
function isRefused(url: string): Promise<true | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => resolve(true));
    socket.on('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
  });
}

test.serial('a request that is answered while the service stops is part of the whole history', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const socket = await unendingUpload(service, t);
  let answer = '';
  socket.on('data', (text) => {
    answer += text.toString();
  });
  const ended = service.stop();
  await service.until('the stop to begin', async () =>
    service.printed.includes('Stopping') ? true : undefined,
  );
  // Nothing but this request is in progress.
  socket.write('x'.repeat(LENGTH - BEGINNING.length - END.length - 1));
  await service.until('the listener to end', () => isRefused(service.url));
  // It writes to the disk, as this does: what does not wait for the request is over.
  for (let n = 0; n < 20; n += 1) await writeFile(join(root, 'input', '.waiting'), `${n}`, { flush: true });
  socket.write(`x${END}`);
  t.is(await ended, 0);
  t.regex(answer, /^HTTP\/1\.1 202 /);
  const report = await run(freshFolder(), ['verify-history', `--Storage:Root=${root}`]);
  t.regex(report.out, /^The history is whole: .*checkpoints\.\n$/);
  t.is(report.code, 0);
});
