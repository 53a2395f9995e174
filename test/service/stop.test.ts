import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { Service, temporaryRoot } from './service.ts';

/** Enough for what must end, little enough to wait for. */
const WAIT = { 'Hosting:ShutdownTimeoutSeconds': 2 };

/** Begins an upload and never ends it, so that the HTTP side has something to wait for. */
async function unendingUpload(service: Service, t: { teardown(task: () => void): void }): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  t.teardown(() => void socket.destroy());
  socket.on('error', () => {});
  const key = await service.key();
  socket.write(
    `POST /api/files HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: 100000\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\n\r\n' +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nbeginning',
  );
  await service.until('the upload to begin', async () =>
    (await readdir(join(service.root, 'input'))).some((name) => name.endsWith('.part')) ? true : undefined,
  );
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
