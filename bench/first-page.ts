/**
 * Time until a participant sees the first page on a phone, and what was loaded by then, over three networks, for a short
 * and a long document: the whole program, and Chromium by its protocol of developer tools.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Aim, type Bench, type BenchContext, type FigureDetails, Unverified } from './frame/bench.ts';
import { Chromium } from './frame/chromium.ts';
import { middle } from './frame/rate.ts';
import { createDocument } from './portal-flow.ts';
import { startProgram } from './program.ts';
import { samplePdf } from './samples.ts';

const PHONE = { width: 390, height: 844, deviceScaleFactor: 2, mobile: true };

interface Network {
  readonly name: string;
  /** Milliseconds until the first page; undefined: no aim. */
  readonly aim?: number;
  /** As Chromium emulates it: milliseconds, bytes a second. */
  readonly limits?: {
    readonly latency: number;
    readonly downloadThroughput: number;
    readonly uploadThroughput: number;
  };
}

const NETWORKS: readonly Network[] = [
  { name: 'unlimited', aim: 1000 },
  { name: 'slow 4G', limits: { latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 } },
  {
    name: 'slow 3G',
    aim: 4000,
    limits: { latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  },
];
const PAGES = [3, 200];
const RUNS = 5;
const MAX_MS = 120_000;
/** Pause between two looks at the page, which has noted the times itself. */
const LOOK_MS = 100;

/** Notes milliseconds and bytes from the request for the page. */
const MARKS = `globalThis.marks = {};
const note = (name) => {
  const loaded = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
  marks[name] ??= { ms: performance.now(), bytes: loaded.reduce((sum, one) => sum + one.encodedBodySize, 0) };
};
new MutationObserver(() => {
  const picture = document.querySelector('img.sheet-of');
  if (picture !== null && picture.dataset.watched === undefined) {
    picture.dataset.watched = '';
    picture.decode().then(() => note('seen'), () => undefined);
  }
  if (document.querySelector('#guide-next:not([disabled])') !== null) note('enabled');
  if (document.querySelector('.page[data-drawn]') !== null) { note('seen'); note('drawn'); }
}).observe(document, { subtree: true, childList: true, attributes: true });`;

interface Mark {
  readonly ms: number;
  readonly bytes: number;
}
type Marks = Readonly<Record<'seen' | 'enabled' | 'drawn', Mark>>;

export const bench: Bench = {
  name: 'first-page',
  question: 'when a participant sees the first page on a phone, and what was loaded by then',
  limits: ['a person does not wait: 1 s, on slow 3G 4 s'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { quick } = context.settings;
  const program = await startProgram(context, context.temporaryFolder(), { 'Batch:Enabled': false });
  const browser = await Chromium.start(context.temporaryFolder());
  try {
    for (const pages of PAGES) {
      const id = await createDocument(program, samplePdf(28_000, 'pdf', pages));
      const { url } = await program.ask<{ url: string }>('portal', `/api/documents/${id}/action-url`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ emailAddress: 'ana@example.org' }),
      });
      // The picture is drawn when the link is opened for the first time.
      await look(browser, url, undefined);
      for (const { name, aim, limits } of NETWORKS) {
        const label = `${pages} pages, ${name}`;
        const runs: Marks[] = [];
        for (let done = 0; done < (quick ? 1 : RUNS); done += 1) {
          context.progress(label, done, RUNS);
          runs.push(await look(browser, url, limits));
        }
        report(context, label, { runs, aim });
      }
    }
  } finally {
    await browser.close();
    await program.stop();
  }
}

async function look(browser: Chromium, url: string, limits: Network['limits']): Promise<Marks> {
  const page = await browser.page();
  await page.ask('Emulation.setDeviceMetricsOverride', PHONE);
  await page.ask('Network.enable');
  if (limits !== undefined) await page.ask('Network.emulateNetworkConditions', { offline: false, ...limits });
  await page.ask('Page.enable');
  await page.ask('Page.addScriptToEvaluateOnNewDocument', { source: MARKS });
  await page.ask('Page.navigate', { url });
  for (let waited = 0; waited < MAX_MS; waited += LOOK_MS) {
    await pause(LOOK_MS);
    const expression = 'JSON.stringify(globalThis.marks ?? {})';
    const { result } = await page.ask<{ result: { value: string } }>('Runtime.evaluate', { expression });
    const marks: Partial<Marks> = JSON.parse(result.value);
    const { seen, enabled, drawn } = marks;
    if (seen === undefined || enabled === undefined || drawn === undefined) continue;
    await page.close();
    return { seen, enabled, drawn };
  }
  throw new Error(`The first page was not drawn within ${MAX_MS / 1000} seconds.`);
}

function report(
  context: BenchContext,
  label: string,
  { runs, aim }: { readonly runs: readonly Marks[]; readonly aim: number | undefined },
): void {
  const { seen, enabled, drawn } = middle(runs, (marks) => marks.seen.ms);
  if (seen.bytes === 0) throw new Unverified(`Nothing was loaded for ${label}.`);
  const source = 'a first page in a second, on slow 3G in four';
  const wanted: FigureDetails =
    aim === undefined ? {} : { aim: { source, of: 'value', atMost: aim } satisfies Aim };
  context.figure(`${label}: first page seen`, seen.ms, 'ms', wanted);
  context.figure(`${label}: loaded until then`, seen.bytes / 1024, 'KiB');
  context.figure(`${label}: button enabled`, enabled.ms, 'ms');
  context.figure(`${label}: page drawn anew`, drawn.ms, 'ms');
}
