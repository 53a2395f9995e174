/**
 * Benchmark of the portal: flows per second from upload to Concluded over HTTP; then latency of a list and a detail
 * with very many stored documents, requested at a fixed rate, so that a slow response counts for all requests due
 * meanwhile.
 */
import { join } from 'node:path';
import { type Step, type StoredActor, systemIds } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { stateMove } from '#runtime/step/derive.js';
import { storageLayout } from '../actors/index.ts';
import { DOCUMENT } from '../actors/portal/document-records/document-index.ts';
import type { DocumentId } from '../machines/ids.ts';
import type { DocumentContext } from '../machines/portal/documents/document-context.ts';
import type { Bench, BenchContext } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { opensslSpeed } from './frame/limits.ts';
import { atRate, type Ending } from './frame/pace.ts';
import { usedFor } from './frame/processes.ts';
import { flow, mustVerify } from './portal-flow.ts';
import { type Program, startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

/** Concurrent flows. */
const CONCURRENCY = 16;
/** Requests of lists and details per second. */
const RATE = 100;
const SETTINGS = { 'Batch:Enabled': false };
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
  const first = await startProgram(context, root, SETTINGS);
  const model = await flows(first, context);
  await first.stop();
  await (await timedStart(context, root, 'started over the flows')).stop();

  context.progress('storing documents', 0, documents);
  await storeCopies(root, model, documents, (done) => context.progress('storing documents', done, documents));
  const second = await timedStart(context, root, `started over ${documents} documents`);
  const questions: readonly (readonly [string, string])[] = [
    ['detail', `/api/documents/${model}`],
    ['list, first page', '/api/documents?Limit=20&Order=Desc'],
    ['list by status', '/api/documents?Status=Concluded&Limit=20&Offset=50'],
    ['list by participant', '/api/documents?ParticipantQ=p77@example.org&ParticipantQueryType=Email'],
    ['list by name', '/api/documents?Q=contract&Limit=20&Offset=50'],
    ['list by a part of a participant', '/api/documents?ParticipantQ=p77'],
    ['list by creation', '/api/documents?CreatedFrom=2026-01-01&Status=Concluded&Limit=20'],
  ];
  for (const [n, [name, path]] of questions.entries()) {
    context.progress(name, n, questions.length);
    const before = second.spent();
    const pace = { perSecond: RATE, seconds: seconds * 5, warmUp: seconds };
    const latency = await atRate(context.clock, pace, () => isAnswered(second, path));
    context.figure(`${name}, p99 over ${documents} documents`, latency.p99, 'ms', {
      latency,
      ...usedFor(RATE * seconds * 6, before, second.spent()),
    });
  }
  await flows(second, context, ` over ${documents} documents`);
  await second.stop();
}

async function timedStart(context: BenchContext, root: string, figure: string): Promise<Program> {
  const startedAt = performance.now();
  const program = await startProgram(context, root, SETTINGS);
  context.figure(figure, (performance.now() - startedAt) / 1000, 's');
  return program;
}

/** Measures flows; returns the id of a concluded and verified document. @param where for the name of the figure */
async function flows(program: Program, context: BenchContext, where = ''): Promise<string> {
  const { seconds, damage } = context.settings;
  const pdf = samplePdf(28_000, 'portal');
  const rsa = opensslSpeed('rsa2048', seconds);
  const limit = 'openssl speed rsa2048';
  if (rsa) context.limit(limit, rsa, '/s');
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
  context.figure(`flows of one signer, ${CONCURRENCY} at once${where}`, rate, '/s', {
    latency: recorder.latency(),
    limit,
    ...usedFor(made.length, before, program.spent()),
  });
  const path = join(context.temporaryFolder(), 'signed.pdf');
  for (const [n, id] of made.entries()) {
    context.progress('verifying', n, made.length);
    await mustVerify(program, id, { path, at: context.clock.now(), damage });
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

/** Steps per commit. */
const GROUP = 2000;

/**
 * Stores the copies.
 * @param root data folder of a stopped program
 * @param id document to copy
 * @param done receives the number of stored copies
 */
async function storeCopies(
  root: string,
  id: string,
  count: number,
  done: (stored: number) => void,
): Promise<void> {
  const store = openLmdbStore({ folder: storageLayout(root).db });
  try {
    const model = await store.load({ kind: 'document', id });
    if (model === undefined) throw new Error('The document is not stored.');
    for (let stored = 0; stored < count; stored += GROUP) {
      const length = Math.min(GROUP, count - stored);
      await Promise.all(Array.from({ length }, (_, n) => store.commit(copyOf(model, stored + n))));
      done(stored + length);
    }
  } finally {
    await store.close();
  }
}

function copyOf(model: StoredActor, n: number): Step {
  const id = systemIds.uuid() as DocumentId;
  const before = model.context as unknown as DocumentContext;
  const context = {
    ...before,
    id,
    key: systemIds.bytes(10).toString('hex').toUpperCase(),
    order: before.order - 1 - n,
    name: `Contract ${n}`,
    actions: before.actions.map((action) => ({
      ...action,
      user: action.user && { ...action.user, email: `p${n % 5000}@example.org` },
    })),
  };
  const actor: StoredActor = {
    ...model,
    address: { kind: 'document', id },
    revision: 1,
    context: context as never,
    journalLength: 0,
  };
  const view = { id, state: actor.state, context };
  return {
    actor,
    basedOn: 0,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    names: { take: DOCUMENT.names?.(view) ?? [], release: [] },
    rows: { put: DOCUMENT.rows?.(view) ?? [], remove: [] },
    counters: DOCUMENT.counters?.(view) ?? {},
    moved: stateMove(undefined, actor),
  };
}
