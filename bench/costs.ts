/**
 * Costs of a flow, a file and a step in counts and processor time, beside what a minimal program needs: figures that
 * other load on the machine changes little.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { openTables, transact } from '#runtime/store/lmdb/lmdb-tables.js';
import type { Bench, BenchContext } from './frame/bench.ts';
import { verifiedByOtherTool } from './frame/judges.ts';
import { LatencyRecorder } from './frame/latency.ts';
import type { ProbeCounts } from './frame/probe.ts';
import { costsByRole, type ThreadCosts, threadCosts } from './frame/processes.ts';
import { pipelineCosts } from './pipeline/costs.ts';
import { flow, mustVerify } from './portal-flow.ts';
import { type Program, startProgram } from './program.ts';
import { uniquePdfs } from './samples.ts';

const IN_FLIGHT = 64;
/** Pause between two looks at a document, so that looks are a small share of the requests. */
const POLL_MS = 25;
/** Flows for each second of the settings. */
const FLOWS_PER_SECOND = 2_000;
/** Flows after the start that are measured apart: the compiler of V8 has most of its work then. */
const FIRST_FLOWS = 600;
/** Flows after a start until threads count as warm. A flow costs half then; 18,000 more change nothing. */
const WARM_FLOWS = 6_000;
const LONE_FLOWS = 60;
/** Flows in one round between two measurements of a signature. */
const ROUNDS = 4;
const JUDGED = 20;
const JUDGED_BY_OTHERS = 5;
const SOURCE = 'docs/performance.md';

interface Sample {
  readonly counts: ProbeCounts;
  readonly threads: ThreadCosts;
}

async function flowCosts(context: BenchContext): Promise<void> {
  const { settings } = context;
  const flows = settings.quick ? 40 : Math.ceil(FLOWS_PER_SECOND * settings.seconds);
  const root = context.temporaryFolder();
  const program = await startProgram(context, root, { 'Batch:Enabled': false }, { probed: true });
  try {
    const pdf = uniquePdfs(28_000, 'portal');
    await coldFlows(program, pdf, context);
    const signatures: number[] = [];
    const before = await sample(program);
    const made: string[] = [];
    let clientMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      context.progress('flows', round, ROUNDS);
      signatures.push(signatureMs());
      const from = performance.now();
      made.push(...(await inFlight(program, pdf, Math.ceil(flows / ROUNDS))));
      clientMs += performance.now() - from;
    }
    const after = await sample(program);
    reportFlows(context, made.length, {
      before,
      after,
      signature: signatures.reduce((sum, ms) => sum + ms, 0) / ROUNDS,
    });
    context.figure(`flows, ${IN_FLIGHT} in flight`, (made.length / clientMs) * 1000, '/s');
    await loneFlows(program, pdf, context);
    const folder = context.temporaryFolder();
    const rootFile = join(root, 'keys', 'development-ca.pem');
    for (const [n, id] of made.slice(0, JUDGED).entries()) {
      const path = join(folder, 'signed.pdf');
      await mustVerify(program, id, { path, at: context.clock.now(), damage: settings.damage });
      context.verified('the engine', 1);
      if (n >= JUDGED_BY_OTHERS) continue;
      const by = await verifiedByOtherTool({ name: id, format: 'Pades', path }, { folder, rootFile });
      if (by !== undefined) context.verified(by, 1);
    }
  } finally {
    await program.stop();
  }
}

/** Measures the first flows after the start, then lets as many run as warm all threads. */
async function coldFlows(program: Program, pdf: () => Buffer, context: BenchContext): Promise<void> {
  const { quick } = context.settings;
  const before = await sample(program);
  const first = quick ? 10 : FIRST_FLOWS;
  await inFlight(program, pdf, first);
  const costs = costsByRole(before.threads, (await sample(program)).threads, before.counts.threads);
  const value = [...costs.values()].reduce((all, { cpuMs }) => all + cpuMs, 0) / first;
  context.figure('first flows after the start: processor time', value, 'ms');
  context.progress('flows until all threads are warm', 0, 1);
  await inFlight(program, pdf, quick ? 10 : WARM_FLOWS - FIRST_FLOWS);
}

async function inFlight(program: Program, pdf: () => Buffer, flows: number): Promise<readonly string[]> {
  const made: string[] = [];
  let startedAt = 0;
  const worker = async (): Promise<void> => {
    while (startedAt < flows) {
      startedAt += 1;
      made.push(await flow(program, pdf(), POLL_MS));
    }
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, flows) }, worker));
  return made;
}

async function sample(program: Program): Promise<Sample> {
  return { counts: await program.counts(), threads: threadCosts(program.pid ?? 'self') };
}

function reportFlows(
  { figure }: BenchContext,
  flows: number,
  {
    before,
    after,
    signature,
  }: { readonly before: Sample; readonly after: Sample; readonly signature: number },
): void {
  const roles = costsByRole(before.threads, after.threads, after.counts.threads);
  const sum = [...roles.values()].reduce((all, { cpuMs }) => all + cpuMs, 0) / flows;
  const main = (roles.get('main')?.cpuMs ?? 0) / flows;
  figure('one RSA-2048 crypto.sign, processor time', signature, 'ms');
  figure('flow: processor time ÷ one crypto.sign', sum / signature, '×', {
    aim: { of: 'value', atMost: 15, source: SOURCE },
  });
  figure('flow: processor time on the main thread ÷ one crypto.sign', main / signature, '×', {
    aim: { of: 'value', atMost: 5, source: SOURCE },
  });
  for (const [role, { cpuMs, wakeUps }] of roles) {
    figure(`flow: processor time, ${role}`, cpuMs / flows, 'ms');
    figure(`flow: wake-ups, ${role}`, wakeUps / flows, 'count');
  }
  const active = (after.counts.activeMs - before.counts.activeMs) / flows;
  figure('flow: event loop of the main thread active', active, 'ms');
  for (const name of Object.keys(after.counts.counts).sort()) {
    const value = ((after.counts.counts[name] ?? 0) - (before.counts.counts[name] ?? 0)) / flows;
    if (value > 0.005) figure(`flow: ${name}`, value, 'count');
  }
}

async function loneFlows(program: Program, pdf: () => Buffer, context: BenchContext): Promise<void> {
  const flows = context.settings.quick ? 5 : LONE_FLOWS;
  const folder = context.temporaryFolder();
  const commits = [await commitMs(join(folder, 'before'))];
  const recorder = new LatencyRecorder();
  for (let n = 0; n < flows; n += 1) {
    context.progress('lone flows', n, flows);
    const from = performance.now();
    await flow(program, pdf(), 1);
    recorder.record(performance.now() - from);
  }
  commits.push(await commitMs(join(folder, 'after')));
  const latency = recorder.latency();
  const commit = commits.reduce((sum, ms) => sum + ms, 0) / commits.length;
  context.figure('one durable LMDB commit alone, p50', commit, 'ms');
  context.figure('lone flow, p50 ÷ one durable commit', latency.p50 / commit, '×', {
    latency,
    aim: { of: 'value', atMost: 20, source: SOURCE },
  });
}

const SIGNATURES = 200;
const COMMITS = 200;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const digest = Buffer.alloc(32, 7);

/** Processor time of one RSA-2048 `crypto.sign`, milliseconds. */
function signatureMs(): number {
  const before = process.cpuUsage();
  for (let n = 0; n < SIGNATURES; n += 1) sign('sha256', digest, privateKey);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / SIGNATURES;
}

/** Median time of one durable LMDB transaction that writes one row, with nothing else, milliseconds. */
async function commitMs(folder: string): Promise<number> {
  const tables = openTables(folder);
  const recorder = new LatencyRecorder();
  for (let n = 0; n < COMMITS; n += 1) {
    const from = performance.now();
    transact(tables, () => void tables.counters.put([`n${n}`], '1'));
    recorder.record(performance.now() - from);
  }
  await tables.root.close();
  return recorder.latency().p50;
}

const PARTS: readonly { readonly name: string; measure(context: BenchContext): Promise<void> }[] = [
  { name: 'flow', measure: flowCosts },
  { name: 'pipeline', measure: pipelineCosts },
];

export const bench: Bench = {
  name: 'costs',
  question: 'what a flow, a file and a step cost in processor time, steps, commits, tasks and wake-ups',
  limits: ['one RSA-2048 `crypto.sign`, one durable LMDB commit, the bare loop of file work'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { only } = context.settings;
  for (const { name, measure } of PARTS)
    if (only.length === 0 || only.some((word) => name.includes(word))) await measure(context);
}
