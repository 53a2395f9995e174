/**
 * Whether files, job states, history, counters, metrics and events say the same once nothing is left to do. Everything
 * is read from outside: the API and the disk.
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { verifyFile } from '@sealwright/signatures';
import { SPARE_PREFIX } from '../../../actors/shared/files/working-folders.ts';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import {
  DIVERGED_MESSAGE,
  RESTART_MESSAGE,
  TAKEN_OVER_MESSAGE,
} from '../../../machines/batch/job-context.ts';
import { isTerminal } from '../service.ts';
import { sha256 } from '../signing/evidence.ts';
import type { SoakInput } from './giver.ts';
import { allEvents, allJobs, type Event, type FullJob } from './jobs.ts';
import type { Done } from './operator.ts';
import { FOLDER_NAMES, type Reading, type SoakService } from './soak-service.ts';

/** Maximum number of reported differences. */
const REPORTED = 40;

/** From → to, as the document's table allows; what comes first is Queued. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  Queued: ['Processing', 'Canceled'],
  Processing: ['Verifying', 'AwaitingSigner', 'Failed'],
  Verifying: ['Completed', 'Failed'],
  AwaitingSigner: ['Verifying', 'Failed', 'Canceled'],
};

export interface Verdict {
  readonly broken: readonly string[];
  readonly jobs: number;
  /** Jobs by state. */
  readonly states: Readonly<Record<string, number>>;
}

/** @param verifyEvery one of so many outputs is verified; all are compared by digest */
export async function agreement(
  subject: SoakService,
  given: SoakInput,
  done: Done,
  verifyEvery: number,
): Promise<Verdict> {
  const { service } = subject;
  const broken: string[] = [];
  const say = (what: string) => broken.push(what);
  const jobs = await allJobs(service);
  const events = await allEvents(service);
  const byId = new Map(jobs.map((job) => [job.id, job]));
  for (const job of jobs) historyIsRight(job, say);
  await countersAgree(subject, jobs, say);
  eventsAgree(jobs, events, done, say);
  for (const reading of subject.readings) readingAgrees(reading, jobs, events, say);
  uploadsAgree(jobs, byId, given, say);
  actsAgree(byId, done, say);
  await droppedAgree(jobs, given, say);
  await outputsAgree(subject, jobs, verifyEvery, say);
  await foldersAgree(subject, jobs, byId, say);
  const states: Record<string, number> = {};
  for (const { status } of jobs) states[status] = (states[status] ?? 0) + 1;
  const more = broken.length - REPORTED;
  if (more > 0) broken.splice(REPORTED, more, `… and ${more} more`);
  return { broken, jobs: jobs.length, states };
}

type Say = (what: string) => void;

/** The lines that are transitions: all but the note of a retry and that of a diverged or left input. */
function transitions({ history }: FullJob): FullJob['history'] {
  return history.filter(({ status }, at) => at === 0 || status !== history[at - 1]?.status);
}

function historyIsRight(job: FullJob, say: Say): void {
  const complain = (what: string) => say(`job ${job.id} (${job.status}): ${what}`);
  const lines = transitions(job);
  if (!isTerminal(job.status)) complain('has not ended');
  if (lines[0]?.status !== 'Queued') complain(`its history begins with ${lines[0]?.status}`);
  if (lines.at(-1)?.status !== job.status) complain(`its history ends with ${lines.at(-1)?.status}`);
  for (const [at, line] of lines.slice(1).entries()) {
    const from = lines[at]?.status ?? '';
    if (!STEPS[from]?.includes(line.status)) complain(`went from ${from} to ${line.status}`);
  }
  for (const [at, line] of job.history.entries()) {
    if (line.id !== at + 1) complain(`its ${at + 1}th history line has the number ${line.id}`);
    const earlier = job.history[at - 1];
    if (earlier && earlier.timestamp > line.timestamp) complain('its history goes back in time');
  }
  if (job.status === 'Failed' && !job.history.some(({ message }) => message === job.errorMessage))
    complain('its error is not in its history');
  if (job.status !== 'Failed' && job.errorMessage !== null) complain('has an error');
  if ((job.status === 'Completed') !== (job.outputFileName !== null))
    complain('its output and its state disagree');
}

/** The counts of lists come from counters, one for each state and profile. */
async function countersAgree({ service }: SoakService, jobs: readonly FullJob[], say: Say): Promise<void> {
  const count = async (query: string) =>
    (await service.json<{ totalCount: number }>(`/api/jobs?pageSize=1${query}`)).totalCount;
  if ((await count('')) !== jobs.length) say(`the list counts ${await count('')} jobs, not ${jobs.length}`);
  for (const status of JOB_STATES) {
    for (const profile of [...FOLDER_NAMES, 'portal']) {
      const there = jobs.filter((job) => job.status === status && job.profileName === profile).length;
      const counted = await count(`&status=${status}&profile=${profile}`);
      if (counted !== there) say(`${status}, ${profile}: counted ${counted}, there are ${there}`);
    }
  }
  const figures = await service.json<Record<string, number>>('/api/statistics?window=24h');
  for (const [name, status] of [
    ['completed', 'Completed'],
    ['failed', 'Failed'],
    ['canceled', 'Canceled'],
  ] as const) {
    const there = jobs.filter((job) => job.status === status).length;
    if (figures[name] !== there) say(`the statistics count ${figures[name]} ${name}, there are ${there}`);
  }
}

/** Frequency with which each thing happened between two times, by the jobs' own histories. */
function happened(jobs: readonly FullJob[], within: (timestamp: string) => boolean) {
  const counts = {
    enqueued: new Map<string, number>(),
    Completed: 0,
    Failed: 0,
    Canceled: 0,
    encrypted: 0,
    diverged: 0,
    restarted: 0,
  };
  for (const job of jobs) {
    for (const { status, timestamp, message } of transitions(job)) {
      if (!within(timestamp)) continue;
      if (status === 'Queued') {
        const label = job.folder ?? '(upload)';
        counts.enqueued.set(label, (counts.enqueued.get(label) ?? 0) + 1);
      } else if (message === RESTART_MESSAGE || message === TAKEN_OVER_MESSAGE) counts.restarted += 1;
      else if (status === 'Completed' || status === 'Failed' || status === 'Canceled') counts[status] += 1;
      if (status === 'Completed' && job.outputEncrypted) counts.encrypted += 1;
    }
    counts.diverged += job.history.filter(
      ({ message, timestamp }) => message === DIVERGED_MESSAGE && within(timestamp),
    ).length;
  }
  return counts;
}

function eventsAgree(jobs: readonly FullJob[], events: readonly Event[], done: Done, say: Say): void {
  const all = happened(jobs, () => true);
  const of = (kind: string) => events.filter((event) => event.kind === kind);
  const failed = of('JobFailed');
  if (failed.length !== all.Failed + all.restarted)
    say(`${failed.length} JobFailed events, ${all.Failed + all.restarted} failed jobs`);
  const withEvent = new Set(failed.map(({ jobId }) => jobId));
  for (const { id, status } of jobs)
    if ((status === 'Failed') !== withEvent.has(id))
      say(`job ${id} (${status}) and its JobFailed event disagree`);
  if (of('InputDiverged').length !== all.diverged)
    say(`${of('InputDiverged').length} InputDiverged events, ${all.diverged} notes`);
  if (of('PipelinePaused').length !== of('PipelineResumed').length)
    say(`${of('PipelinePaused').length} pauses and ${of('PipelineResumed').length} resumes`);
  if (of('RescanCompleted').length < done.rescans)
    say(`${of('RescanCompleted').length} RescanCompleted events, ${done.rescans} rescans were answered`);
  const swept = of('RecoverySwept').reduce(
    (sum, { message }) => sum + Number(/: (\d+) jobs/.exec(message)?.[1] ?? Number.NaN),
    0,
  );
  if (swept !== all.restarted)
    say(`RecoverySwept events tell of ${swept} jobs, ${all.restarted} were failed by a restart`);
}

/** Metrics begin at zero with each life; what recovery does comes before they listen. */
function readingAgrees(
  { from, to, series }: Reading,
  jobs: readonly FullJob[],
  events: readonly Event[],
  say: Say,
): void {
  const first = new Date(from).toISOString();
  const last = new Date(to).toISOString();
  const within = (timestamp: string) => timestamp >= first && timestamp <= last;
  const counts = happened(jobs, within);
  const expect = (name: string, value: number) => {
    if (series.get(name) !== value)
      say(`${first} to ${last}: ${name} was ${series.get(name)}, the jobs say ${value}`);
  };
  expect('batch_jobs_completed_total', counts.Completed);
  expect('batch_jobs_failed_total', counts.Failed);
  expect('batch_jobs_canceled_total', counts.Canceled);
  expect('batch_files_encrypted_total', counts.encrypted);
  for (const folder of [...FOLDER_NAMES, '(upload)'])
    expect(`batch_jobs_enqueued_total{folder="${folder}"}`, counts.enqueued.get(folder) ?? 0);
  const happenedThen = (kind: string) =>
    events.filter((event) => event.kind === kind && within(event.timestamp)).length;
  expect('batch_pipeline_pause_total', happenedThen('PipelinePaused'));
  expect('batch_pipeline_resume_total', happenedThen('PipelineResumed'));
  expect('batch_jobs_in_flight', 0);
  expect('batch_jobs_awaiting_remote', 0);
  expect('batch_pipeline_paused', 0);
  const diverged = [...series].filter(([name]) => name.startsWith('batch_inputs_diverged_total'));
  if (diverged.reduce((sum, [, value]) => sum + value, 0) !== counts.diverged)
    say(`${first} to ${last}: the diverged inputs of the metrics and the jobs disagree`);
}

/** Each upload that was answered made one job, and that job signed just those bytes or none. */
function uploadsAgree(
  jobs: readonly FullJob[],
  byId: ReadonlyMap<string, FullJob>,
  given: SoakInput,
  say: Say,
): void {
  const made = new Map<string, number>();
  for (const { source, fileName } of jobs)
    if (source === 'Upload') made.set(fileName, (made.get(fileName) ?? 0) + 1);
  for (const [fileName, { jobId, digest, good }] of given.uploaded) {
    const job = byId.get(jobId);
    if (job === undefined) say(`the accepted upload ${fileName} has no job ${jobId}`);
    else if (job.status === 'Completed' && job.inputSha256 !== digest)
      say(`job ${jobId} signed something else than ${fileName}`);
    else if (job.status === 'Completed' && !good) say(`the broken upload ${fileName} was signed`);
    if (made.get(fileName) !== 1) say(`the upload ${fileName} made ${made.get(fileName)} jobs`);
  }
}

function actsAgree(byId: ReadonlyMap<string, FullJob>, { canceled, retried }: Done, say: Say): void {
  for (const id of canceled) {
    const job = byId.get(id);
    if (job?.status !== 'Canceled') say(`job ${id}, which was canceled, is ${job?.status}`);
  }
  for (const [id, parent] of retried) {
    if (byId.get(id)?.parentJobId !== parent)
      say(`the retry ${id} of ${parent} is ${byId.get(id)?.parentJobId ?? 'not there'}`);
    if (byId.get(parent)?.status !== 'Failed')
      say(`job ${parent}, which was retried, is ${byId.get(parent)?.status}`);
    const noted = byId.get(parent)?.history.some(({ message }) => message === `Retried as job ${id}.`);
    if (!noted) say(`job ${parent} does not tell of its retry ${id}`);
  }
}

/** Each dropped file was signed once and is gone, or lies there and its newest job says why. */
async function droppedAgree(jobs: readonly FullJob[], given: SoakInput, say: Say): Promise<void> {
  const ofPath = new Map<string, FullJob[]>();
  for (const job of jobs) {
    const known = ofPath.get(job.originalPath);
    if (known) known.push(job);
    else ofPath.set(job.originalPath, [job]);
  }
  for (const { path, digest, good, before } of given.dropped) {
    const own = ofPath.get(path) ?? [];
    const signed = own.filter(
      ({ status, inputSha256 }) => status === 'Completed' && inputSha256 === digest,
    ).length;
    const earlier = own.filter(
      ({ status, inputSha256 }) => status === 'Completed' && inputSha256 === before,
    ).length;
    const completed = own.filter(({ status }) => status === 'Completed').length;
    const there = await readFile(path).catch(() => undefined);
    if (signed > 1) say(`${path} was signed ${signed} times`);
    if (before !== undefined && earlier > 1) say(`what ${path} was at first was signed ${earlier} times`);
    if (completed !== signed + (before === undefined ? 0 : earlier))
      say(`${path}: something that never lay there was signed`);
    if (signed > 0 && !good) say(`${path} is broken and was signed`);
    if (signed > 0 && there) say(`${path} is signed and still there`);
    if (signed === 0 && !there) say(`${path} is neither signed nor there`);
    if (there && sha256(there) !== digest) say(`${path} is not what was dropped`);
    const newest = own.at(-1)?.status;
    if (signed === 0 && newest !== 'Failed' && newest !== 'Canceled')
      say(`${path} lies there and its newest job is ${newest ?? 'none'}`);
  }
}

async function outputsAgree(
  subject: SoakService,
  jobs: readonly FullJob[],
  verifyEvery: number,
  say: Say,
): Promise<void> {
  const output = join(subject.root, 'output');
  const wanted = new Map<string, FullJob>();
  for (const job of jobs) {
    if (job.status !== 'Completed' || job.outputFileName === null) continue;
    if (wanted.has(job.outputFileName)) say(`two jobs call ${job.outputFileName} their output`);
    wanted.set(job.outputFileName, job);
  }
  let at = 0;
  for (const entry of await readdir(output, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(output, path);
    const job = wanted.get(name);
    wanted.delete(name);
    if (job === undefined) {
      say(`output/${name} belongs to no completed job`);
      continue;
    }
    if (sha256(await readFile(path)) !== job.outputSha256)
      say(`output/${name} is not what job ${job.id} published`);
    at += 1;
    if (job.outputEncrypted || at % verifyEvery !== 0) continue;
    const verdict = verifyFile({ format: job.format as 'Pades' | 'Cades' | 'Xades', path, at: Date.now() });
    if (!verdict.ok)
      say(`output/${name} does not verify: ${JSON.stringify(verdict.checks.filter(({ ok }) => !ok))}`);
  }
  for (const [name, job] of wanted) say(`the output ${name} of job ${job.id} is missing`);
}

/** Nothing is left in processing, and in error only what failed or was canceled. */
async function foldersAgree(
  subject: SoakService,
  jobs: readonly FullJob[],
  byId: ReadonlyMap<string, FullJob>,
  say: Say,
): Promise<void> {
  for (const name of await readdir(join(subject.root, 'processing')))
    if (!name.startsWith(SPARE_PREFIX)) say(`processing/${name} was left behind`);
  for (const name of await readdir(join(subject.root, 'error'))) {
    const status = byId.get(name)?.status;
    if (status !== 'Failed' && status !== 'Canceled')
      say(`error/${name} belongs to a job that is ${status ?? 'not there'}`);
  }
  const kept = new Set(
    jobs
      .filter(({ status }) => status === 'Failed' || status === 'Canceled')
      .map(({ originalPath }) => originalPath),
  );
  const input = join(subject.root, 'input');
  for (const name of await readdir(input)) {
    const path = join(input, name);
    if (name.startsWith('.')) say(`input/${name} was left behind`);
    else if ((await stat(path)).isFile() && !kept.has(path))
      say(`input/${name} belongs to no failed or canceled job`);
  }
}
