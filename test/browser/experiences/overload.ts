/** Experience 10: what a service does that gets three times what it can do, and large files at once. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { systemClock } from '#runtime/model/clock.js';
import { atRate } from '../../../bench/frame/pace.ts';
import { Client, uploadRequests } from '../../../bench/http/client.ts';
import { samplePdf } from '../../../bench/samples.ts';
import { Service, temporaryRoot } from '../../service/service.ts';
import type { WatchData, WatchedFigures } from './overload-watch.ts';
import type { Experience, Stage } from './stage.ts';

const TIMES = 3;
const FLOOD_SECONDS = 60;
const LIMITS = { refusedMs: 50, slower: 2, answerMs: 200, growth: 1.1, residentMib: 400 };
const LARGE = { files: 50, bytes: 100_000_000, piece: 1 << 20 };

/** Greatest but for one in a hundred. */
function p99(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

interface Watched {
  /** p99 of readiness and of what the overview shows, milliseconds. */
  readonly slowest: number;
  /** MiB, five times a second. */
  readonly resident: readonly number[];
}

/** Watches the service until the returned function is called. */
function watch(service: Service, key: string): () => Promise<Watched> {
  const workerData: WatchData = { url: service.url, key, pid: service.pid };
  const thread = new Worker(new URL('./overload-watch.js', import.meta.url), { workerData });
  const seen = once(thread, 'message') as Promise<[WatchedFigures]>;
  seen.catch(() => undefined);
  return async () => {
    thread.postMessage('end');
    const [{ answers, resident }] = await seen;
    return { slowest: p99(answers), resident };
  };
}

async function flood(stage: Stage): Promise<void> {
  const settings = { 'Pipeline:MaxConcurrency': 16 };
  const service = await Service.startOne(stage, { root: await temporaryRoot(stage), settings });
  const key = await service.key();
  const next = uploadRequests('/api/files', { 'X-API-Key': key }, samplePdf(10_000));
  let accepted = 0;
  const busy = async () => {
    const client = await Client.open(service.url, 16, 202);
    const { done, millis } = await client.flatOut(5_000, next);
    client.close();
    accepted += done;
    return (done / millis) * 1000;
  };
  await stage.act('find what it can accept', busy);
  await service.idle(600);
  const rate = await stage.act('find it once more, warm', busy);
  await service.idle(600);
  const client = await Client.open(service.url, 512, 202);
  const ofPhase = async (perSecond: number, seconds: number) => {
    const times = { done: [] as number[], refused: [] as number[] };
    await atRate(systemClock, { perSecond, seconds }, async () => {
      const began = performance.now();
      const ending = await client.ask(next());
      times[ending].push(performance.now() - began);
      return ending;
    });
    accepted += times.done.length;
    return times;
  };
  const calm = await stage.act('a quarter of that, for 20 s', () => ofPhase(rate / 4, 20));
  await service.idle(600);
  const ended = watch(service, key);
  const much = await stage.act(`${TIMES} times that, for ${FLOOD_SECONDS} s`, async () => {
    const flooding = ofPhase(rate * TIMES, FLOOD_SECONDS);
    await setTimeout(FLOOD_SECONDS * 500);
    // The fast client reads no headers.
    const wrong: number[] = [];
    for (let probe = 0; probe < 20; probe += 1) {
      const form = new FormData();
      form.set('file', new Blob(['ten pieces']), `order-${probe}.txt`);
      const answer = await service.fetch('/api/files', { method: 'POST', body: form });
      await answer.text();
      if (answer.status === 202) accepted += 1;
      else if (!answer.headers.has('retry-after')) wrong.push(answer.status);
    }
    stage.expect(wrong.length === 0, `refused without Retry-After: ${wrong}`);
    return flooding;
  });
  const watched = await ended();
  client.close();
  stage.note(
    `${Math.round(rate)} a second can be accepted; of ${TIMES} times that ${much.done.length} were accepted, ${much.refused.length} refused`,
  );
  await service.idle(900);
  const done = await service.count('Completed');
  stage.expect(done === accepted, `${accepted} were accepted, ${done} are done`);
  await service.stop();
  judge(stage, watched, { quiet: p99(calm.done), loud: p99(much.done), away: p99(much.refused) });
}

function judge(
  stage: Stage,
  { slowest, resident }: Watched,
  {
    quiet,
    loud,
    away,
  }: {
    /** p99 of those that are accepted, milliseconds: in quiet, and in the flood. */
    readonly quiet: number;
    readonly loud: number;
    /** The same of those that are refused. */
    readonly away: number;
  },
): void {
  const fifth = Math.floor(resident.length / 5);
  const growth = mean(resident.slice(-fifth)) / mean(resident.slice(2 * fifth, 3 * fifth + 1));
  stage.note(
    `p99 of accepted ${loud.toFixed(1)} ms (quiet ${quiet.toFixed(1)} ms), of refused ${away.toFixed(1)} ms, of readiness and overview ${slowest.toFixed(1)} ms; memory grew ${((growth - 1) * 100).toFixed(1)} %`,
  );
  stage.expect(away < LIMITS.refusedMs, `p99 until refused is ${away} ms`);
  stage.expect(slowest < LIMITS.answerMs, `readiness and overview took ${slowest} ms`);
  stage.expect(growth < LIMITS.growth, `memory grew to ${growth} times`);
  stage.expect(loud <= LIMITS.slower * quiet, `p99 of accepted is ${loud} ms, ${quiet} ms in quiet`);
}

/** Resolves with the status of an upload of that many bytes, which this process never has at once. */
function uploadLarge(service: Service, key: string, number: number): Promise<number> {
  const piece = Buffer.alloc(LARGE.piece, 'a line of a long file\n');
  const before = `--large\r\nContent-Disposition: form-data; name="file"; filename="large-${number}.txt"\r\n\r\n`;
  const after = '\r\n--large--\r\n';
  function* body() {
    yield Buffer.from(before);
    for (let left = LARGE.bytes; left > 0; left -= piece.length)
      yield left < piece.length ? piece.subarray(0, left) : piece;
    yield Buffer.from(after);
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${service.url}/api/files`,
      {
        method: 'POST',
        headers: {
          'X-API-Key': key,
          'Content-Type': 'multipart/form-data; boundary=large',
          'Content-Length': before.length + LARGE.bytes + after.length,
        },
      },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    sent.on('error', reject);
    Readable.from(body()).pipe(sent);
  });
}

async function largeFiles(stage: Stage): Promise<void> {
  const service = await Service.startOne(stage, { root: await temporaryRoot(stage) });
  const key = await service.key();
  // They wait: to sign five gigabytes is no part of this.
  await service.fetch('/api/pipeline/pause', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"reason":"Large files"}',
  });
  const ended = watch(service, key);
  const statuses = await stage.act(`${LARGE.files} uploads of 100 MB at once`, () =>
    Promise.all(Array.from({ length: LARGE.files }, (_, number) => uploadLarge(service, key, number))),
  );
  const { slowest, resident } = await ended();
  const most = Math.max(...resident);
  const accepted = statuses.filter((status) => status === 202).length;
  stage.note(
    `${accepted} accepted, at most ${Math.round(most)} MiB of memory, p99 of readiness and overview ${slowest.toFixed(1)} ms`,
  );
  stage.expect(accepted === LARGE.files, `they were answered ${[...new Set(statuses)]}`);
  stage.expect(most < LIMITS.residentMib, `the service had ${most} MiB`);
  stage.expect(slowest < LIMITS.answerMs, `readiness and overview took ${slowest} ms`);
}

export const OVERLOAD: Experience = {
  number: 10,
  title: 'Calm under overload',
  async run(stage) {
    await largeFiles(stage);
    await flood(stage);
  },
};
