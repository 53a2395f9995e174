/**
 * Benchmark of the portal: flows per second from upload to Concluded over HTTP; then latency of a list and a detail
 * with very many stored documents, requested at a fixed rate, so that a slow response counts for all requests due
 * meanwhile.
 */
import { join } from 'node:path';
import type { Bench, BenchContext } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { opensslSpeed } from './frame/limits.ts';
import { atRate, type Ending } from './frame/pace.ts';
import { usedFor } from './frame/processes.ts';
import { storeCopies } from './portal-documents.ts';
import { flow, mustVerify } from './portal-flow.ts';
import { type Program, startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

/** Concurrent flows. */
const CONCURRENCY = 16;
/** Requests of lists and details per second. */
const RATE = 100;
/** Minimum of files a run signs. */
const MIN_FLOWS = 20;

export const bench: Bench = {
  name: 'portal',
  question: 'flows a second from upload to Concluded, and lists and details over very many documents',
  limits: ['`openssl speed rsa2048` on one core: one signature seals a flow of one signer'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { documents, seconds } = context.settings;
  const root = context.temporaryFolder();
  const settings = { 'Batch:Enabled': false };
  const first = await startProgram(context, root, settings);
  const model = await flows(first, context);
  await first.stop();

  context.progress('storing documents', 0, documents);
  await storeCopies(root, model, documents, (done) => context.progress('storing documents', done, documents));
  const startedAt = performance.now();
  const second = await startProgram(context, root, settings);
  context.figure({
    name: `started over ${documents} documents`,
    value: (performance.now() - startedAt) / 1000,
    unit: 's',
    better: 'less',
  });
  const questions: readonly (readonly [string, string])[] = [
    ['detail', `/api/documents/${model}`],
    ['list, first page', '/api/documents?Limit=20&Order=Desc'],
    ['list by status', '/api/documents?Status=Concluded&Limit=20&Offset=50'],
    ['list by participant', '/api/documents?ParticipantQ=p77@example.org&ParticipantQueryType=Email'],
  ];
  for (const [n, [name, path]] of questions.entries()) {
    context.progress(name, n, questions.length);
    const before = second.spent();
    const pace = { perSecond: RATE, seconds: seconds * 5, warmUp: seconds };
    const latency = await atRate(context.clock, pace, () => isAnswered(second, path));
    context.figure({
      name: `${name}, p99 over ${documents} documents`,
      value: latency.p99,
      unit: 'ms',
      better: 'less',
      latency,
      ...usedFor(RATE * seconds * 6, before, second.spent()),
    });
  }
  await second.stop();
}

/** Measures flows; returns the id of a concluded and verified document. */
async function flows(program: Program, context: BenchContext): Promise<string> {
  const { seconds, damage } = context.settings;
  const pdf = samplePdf(28_000, 'portal');
  const rsa = opensslSpeed('rsa2048', seconds);
  const limit = 'openssl speed rsa2048';
  if (rsa) context.limit({ name: limit, value: rsa, unit: '/s' });
  await Promise.all(Array.from({ length: 4 }, () => flow(program, pdf)));
  const recorder = new LatencyRecorder();
  const made: string[] = [];
  const length = seconds * 10_000;
  const before = program.spent();
  const startedAt = performance.now();
  const tellTime = () => {
    const passed = Math.min(performance.now() - startedAt, length);
    context.progress('seconds of flows', Math.floor(passed / 1000), Math.ceil(length / 1000));
  };
  tellTime();
  const goesOn = () => performance.now() - startedAt < length || made.length < MIN_FLOWS;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (goesOn()) {
        const from = performance.now();
        made.push(await flow(program, pdf));
        recorder.record(performance.now() - from);
        tellTime();
      }
    }),
  );
  const rate = (made.length / (performance.now() - startedAt)) * 1000;
  context.figure({
    name: `flows of one signer, ${CONCURRENCY} at once`,
    value: rate,
    unit: '/s',
    better: 'more',
    latency: recorder.latency(),
    limit,
    ...usedFor(made.length, before, program.spent()),
  });
  const path = join(context.temporaryFolder(), 'signed.pdf');
  for (const [n, id] of made.entries()) {
    context.progress('verifying', n, made.length);
    await mustVerify(program, id, path, context.clock.now(), damage);
  }
  context.verified('the engine', made.length);
  const [model] = made;
  if (model === undefined) throw new Error('No flow ended.');
  return model;
}

async function isAnswered({ portal, portalKey }: Program, path: string): Promise<Ending> {
  const response = await fetch(`${portal}${path}`, { headers: portalKey });
  const text = await response.text();
  if (response.status === 503) return 'refused';
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return 'done';
}
