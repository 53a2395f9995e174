/** Starts the script of the page that is shown, and refreshes it for as long as something may change. */
import { ApiProblem, toast } from './api.ts';
import { document, later, part } from './browser.ts';

interface PageScript {
  start?(refresh: () => void): void;
  /** Resolves with false when nothing will change any more. */
  refresh(): Promise<unknown>;
}

const SCRIPTS: { readonly [page: string]: () => Promise<PageScript> } = {
  overview: async () => {
    const { refreshOverview } = await import('./overview.ts');
    return { refresh: refreshOverview };
  },
  jobs: async () => {
    const { refreshJobList, startJobList } = await import('./job-list.ts');
    return { start: startJobList, refresh: refreshJobList };
  },
  job: async () => {
    const { refreshJobPage, startJobPage } = await import('./job-page.ts');
    return { start: startJobPage, refresh: refreshJobPage };
  },
  input: async () => {
    const { refreshInputPage, startInputPage } = await import('./input-page.ts');
    return { start: startInputPage, refresh: refreshInputPage };
  },
  mails: async () => {
    const { refreshMailList, startMailList } = await import('./mail-list.ts');
    return { start: startMailList, refresh: refreshMailList };
  },
  system: async () => {
    const { refreshSystemPage, startSystemPage } = await import('./system-page.ts');
    return { start: startSystemPage, refresh: refreshSystemPage };
  },
};

const { page = '', poll = '5' } = document.body.dataset;
const script = await SCRIPTS[page]?.();
let stopWaiting = () => {};
/** Of the refresh under way; one that was overtaken says nothing. */
let current = 0;
let lastTrouble = '';

async function refresh(): Promise<void> {
  stopWaiting();
  current += 1;
  const mine = current;
  let goesOn = true;
  try {
    goesOn = (await script?.refresh()) !== false;
    lastTrouble = '';
  } catch (error) {
    const code = error instanceof ApiProblem ? error.code : 'page.fault';
    // The same trouble again is no news.
    if (code !== lastTrouble) toast(code, error instanceof Error ? error.message : String(error));
    lastTrouble = code;
    goesOn = code !== 'job.not-found';
  }
  if (mine !== current) return;
  const main = part('main');
  main.setAttribute('data-refreshed', String(current));
  main.setAttribute('data-live', String(goesOn));
  if (goesOn) stopWaiting = later(Number(poll) * 1000, waited);
}

/** A page that nobody looks at waits until somebody does. */
function waited(): void {
  if (!document.hidden) void refresh();
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && part('main').getAttribute('data-live') !== 'false') void refresh();
});
script?.start?.(() => void refresh());
await refresh();
