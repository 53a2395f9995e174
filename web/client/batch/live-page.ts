/**
 * Refreshes the page when the service has changed: one request waits for the next change (`GET /api/changes`). A hidden
 * page sends nothing.
 */

import type { Changes } from '../../../clients/typescript/batch.d.ts';
import { delay, requireElement } from '../dom.ts';
import { ApiProblem, getJson, setVersion, toast } from './api.ts';
import { setTimeMode, type TimeMode, timeMode, updateCountdowns } from './times.ts';

const times = requireElement('#times', HTMLSelectElement);
times.value = timeMode();
times.addEventListener('change', () => setTimeMode(times.value as TimeMode));

/** A second, in milliseconds. */
const SECOND_MS = 1000;

/** Pause between a refresh and the wait for the next change, which the service paces, in seconds. */
const PAUSE_SECONDS = 1;

function countDown(): void {
  if (!document.hidden) updateCountdowns();
  delay(SECOND_MS, countDown);
}

countDown();

const { poll = '5' } = document.body.dataset;
/** Resolves with false when nothing can change any more. */
let refreshParts: () => Promise<unknown>;
let stopWaiting = () => {};
/** Number of the current refresh; an overtaken one shows no error. */
let current = 0;
let lastError = '';
/** Version of the service before the last refresh. */
let version = '';
/** The service does not hold the requests for changes: it cannot be reached, or too many of them wait. */
let isUnpaced = false;

/** @param shared the answers may be those of another page that knows the same version. @default computed for this page */
async function refresh({ shared = false } = {}): Promise<void> {
  stopWaiting();
  setVersion(shared ? version : '');
  current += 1;
  const mine = current;
  let goesOn = true;
  try {
    goesOn = (await refreshParts()) !== false;
    lastError = '';
  } catch (error) {
    const code = error instanceof ApiProblem ? error.code : 'page.fault';
    // Shows a repeated error only once.
    if (code !== lastError) toast(code, error instanceof Error ? error.message : String(error));
    lastError = code;
    goesOn = code !== 'job.not-found' && code !== 'actor.not-found';
  }
  if (mine !== current) return;
  const main = requireElement('main');
  main.setAttribute('data-refreshed', String(current));
  main.setAttribute('data-live', String(goesOn));
  const pause = isUnpaced ? Number(poll) : Math.min(Number(poll), PAUSE_SECONDS);
  if (goesOn) stopWaiting = delay(pause * SECOND_MS, () => void waitForChange());
}

/** Waits for a change and refreshes; also without one after a while, for what is no step, such as free disk space. */
async function waitForChange(): Promise<void> {
  if (document.hidden) return;
  const waiting = new AbortController();
  stopWaiting = () => waiting.abort();
  const wait = String(Math.min(60, Number(poll) * 4));
  const every = String(Math.min(60, Math.max(1, Math.round(Number(poll)))));
  const query = new URLSearchParams({ after: version, wait, every });
  const known = version;
  let isQuick = true;
  const cancel = delay(SECOND_MS, () => {
    isQuick = false;
  });
  try {
    ({ version } = await getJson<Changes>(`/api/changes?${query}`, waiting));
    isUnpaced = version === known && isQuick;
  } catch {
    // The refresh shows what is wrong.
    isUnpaced = !waiting.signal.aborted;
  } finally {
    cancel();
  }
  if (!waiting.signal.aborted) void refresh({ shared: true });
}

/** Call it last in the script of a page. @param start gets what refreshes the page at once */
export function startPage(parts: () => Promise<unknown>, start?: (refresh: () => void) => void): void {
  refreshParts = parts;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stopWaiting();
    else if (requireElement('main').getAttribute('data-live') !== 'false') void refresh();
  });
  start?.(() => void refresh());
  void refresh();
}
