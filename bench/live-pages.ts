/**
 * Cost of ten open pages of actors: the processor time of the whole program for each signed file, in turns with and without
 * the requests of the pages. Turns follow each other on one program, so that other load affects both. The difference of two
 * turns varies by several per cent, so the figure has its lowest and highest pair beside it. What a refresh costs is
 * measured on its own, too: many of them while the program does nothing else, and the share that follows from it.
 *
 * The requests are those of `web/client/batch/live-page.tsx`: a page waits for a change, which the service paces, and then
 * asks for what it shows, with the version of the change, so that pages share answers.
 *
 * The state index of each job is written once, with and without pages (decision 0036): without them when too many changes
 * wait. Each turn ends with this write, so that both kinds of turns contain it.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench, BenchContext } from './frame/bench.ts';
import { middle } from './frame/rate.ts';
import { type Program, startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

/** Open pages: the kinds of actors, the list of jobs, and one job, in turn. */
const PAGES = 10;
/** `Dashboard:PollIntervalSeconds`, default. */
const POLL_SECONDS = 5;
/** Pause of a page between a refresh and the next wait. */
const PAUSE_MS = 1_000;
/** Pages are opened at different times within this one. */
const OPENING_MS = 5_000;
const PAIRS = 6;
/** Seconds of a turn, times the seconds of a run; each page refreshes at least twice in it. */
const TURN = 12;
/** Refreshes that are measured alone, each computed anew. */
const REFRESHES_ALONE = 400;
/** Files in flight. A sender waits for the end of its job in the request itself, and so asks for nothing else. */
const SENDERS = 32;
/** Seconds that an upload waits for the end of its job. */
const JOB_WAIT = 60;
/** Pause of a sender whose file was refused because the queue is full. */
const REFUSED_MS = 50;
const AIM = 'pages: ten open ones cost less than 2 % of the throughput';

export const bench: Bench = {
  name: 'live-pages',
  question: 'what ten open pages of actors cost a service that signs as fast as it can',
  limits: ['the same service without open pages'],
  run,
};

/** Milliseconds of processor time and files of one turn. */
interface Turn {
  readonly cpu: number;
  readonly files: number;
  readonly seconds: number;
  readonly refreshes: number;
}

async function run(context: BenchContext): Promise<void> {
  const { quick, seconds } = context.settings;
  const program = await startProgram(context, join(context.temporaryFolder(), 'live'), {
    'Portal:Enabled': false,
  });
  try {
    const pairs = quick ? 1 : PAIRS;
    const length = TURN * seconds * 1000;
    const first = await turn(program, length, 0);
    if (first.files === 0) throw new Error('The service has signed nothing.');
    const costs: number[] = [];
    const rates: number[] = [];
    let refreshes = 0;
    let taken = 0;
    const bare: number[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      context.progress('turns', pair, pairs);
      // Alternates the order, since a service becomes faster at first.
      const order = pair % 2 === 0 ? [0, PAGES] : [PAGES, 0];
      const turns = new Map<number, Turn>();
      for (const pages of order) {
        turns.set(pages, await turn(program, length, pages));
      }
      const without = turns.get(0);
      const watched = turns.get(PAGES);
      if (without === undefined || watched === undefined) continue;
      bare.push(without.cpu / without.files);
      costs.push((watched.cpu / watched.files / (without.cpu / without.files) - 1) * 100);
      rates.push(without.files / without.seconds);
      refreshes += watched.refreshes;
      taken += watched.seconds;
    }
    const limit = 'processor time of a file, no page open';
    context.limit(limit, middle(bare, Number), 'ms');
    context.figure(`${PAGES} open pages: processor time beside that of no page`, middle(costs, Number), '%', {
      aim: { of: 'value', atMost: 2, source: AIM },
    });
    context.figure('the same, lowest pair', Math.min(...costs), '%');
    context.figure('the same, highest pair', Math.max(...costs), '%');
    const alone = await refreshCost(program);
    context.figure('one refresh, computed alone', alone, 'ms');
    context.figure(
      `${PAGES} open pages: share by the cost of a refresh alone`,
      ((alone * refreshes) / taken / (middle(bare, Number) * middle(rates, Number))) * 100,
      '%',
      { aim: { of: 'value', atMost: 2, source: AIM } },
    );
    context.figure('files, no page open', middle(rates, Number), '/s');
    context.figure('refreshes of pages', refreshes / taken, '/s');
    context.progress('done', pairs, pairs);
  } finally {
    await program.stop();
  }
}

async function turn(program: Program, length: number, pages: number): Promise<Turn> {
  const ending = new AbortController();
  const spent = cpuOf(program);
  const startedAt = performance.now();
  const end = startedAt + length;
  let refreshes = 0;
  const open = Array.from({ length: pages }, (_, page) =>
    keepOpen(program, page, ending.signal, () => {
      refreshes += 1;
    }),
  );
  const signed = await Promise.all(Array.from({ length: SENDERS }, () => send(program, end)));
  const seconds = (performance.now() - startedAt) / 1000;
  ending.abort();
  await Promise.all(open);
  await program.ask('batch', '/api/actors');
  const cpu = cpuOf(program) - spent;
  return { cpu, files: signed.reduce((sum, files) => sum + files, 0), seconds, refreshes };
}

/** Processor time of a refresh that shares nothing, while the program does nothing else: milliseconds. */
async function refreshCost(program: Program): Promise<number> {
  const list = '/api/actors?kind=job&limit=50';
  const { items } = await program.ask<{ items: { id: string }[] }>('batch', list);
  const one = `/api/actors/job/${encodeURIComponent(items[0]?.id ?? '')}`;
  await program.ask('batch', '/api/actors');
  const spent = cpuOf(program);
  const paths = ['/api/actors', list, one];
  for (let refresh = 0; refresh < REFRESHES_ALONE; refresh += 1) {
    await program.ask('batch', `/api/changes?wait=1&every=${POLL_SECONDS}`);
    await program.ask('batch', paths[refresh % paths.length] ?? '');
  }
  return (cpuOf(program) - spent) / REFRESHES_ALONE;
}

function cpuOf(program: Program): number {
  const { user = 0, system = 0 } = program.spent() ?? {};
  return user + system;
}

/** Sends one file after the other, each until its job has ended. @returns how many were signed */
async function send(program: Program, end: number): Promise<number> {
  const file = new Blob([new Uint8Array(samplePdf())], { type: 'application/pdf' });
  let signed = 0;
  while (performance.now() < end) {
    const form = new FormData();
    form.set('file', file, 'contract.pdf');
    const answer = await fetch(`${program.batch}/api/files?wait=${JOB_WAIT}`, {
      method: 'POST',
      headers: program.batchKey,
      body: form,
    });
    const text = await answer.text();
    if (answer.status === 503) await pause(REFUSED_MS);
    else if (answer.status === 200 && (JSON.parse(text) as { status: string }).status === 'Completed')
      signed += 1;
    else throw new Error(`An upload was answered with ${answer.status}: ${text}`);
  }
  return signed;
}

/** One page, from its opening to the end of the turn. */
async function keepOpen(
  program: Program,
  page: number,
  signal: AbortSignal,
  refreshed: () => void,
): Promise<void> {
  if (!(await pauseUnless((OPENING_MS * page) / PAGES, signal))) return;
  let version = '';
  try {
    const { items } = await program.ask<{ items: { id: string }[] }>(
      'batch',
      '/api/actors?kind=job&limit=50',
      { signal },
    );
    const one = items[page % Math.max(1, items.length)]?.id ?? '';
    for (;;) {
      const known = encodeURIComponent(version);
      const shared = version === '' ? '' : `version=${known}`;
      const paths = [
        `/api/actors?${shared}`,
        `/api/actors?kind=job&limit=50&${shared}`,
        `/api/actors/job/${encodeURIComponent(one)}?${shared}`,
      ];
      await program.ask('batch', paths[page % paths.length] ?? '', { signal });
      refreshed();
      if (!(await pauseUnless(PAUSE_MS, signal))) return;
      const changes = `/api/changes?after=${known}&wait=20&every=${POLL_SECONDS}`;
      ({ version } = await program.ask<{ version: string }>('batch', changes, { signal }));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Resolves with false when the signal came first. */
function pauseUnless(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return pause(milliseconds, true, { signal }).catch(() => false);
}
