/**
 * Draws the page with its components, and refreshes it when the service has changed: one request waits for the next change
 * (`GET /api/changes`). A hidden page sends nothing.
 */
import { render, type VNode } from 'preact';
import type { Changes } from '../../../clients/typescript/batch.d.ts';
import { Button } from '../../components/controls.tsx';
import { StateOf } from '../../components/surfaces.tsx';
import { Clock, Mode, type TimeMode } from '../../components/time.tsx';
import { forReader } from '../../pages/batch/rights.tsx';
import { delay, requireElement, setText } from '../dom.ts';
import { startDrops } from '../drops.ts';
import { type ApiProblem, getJson, problemOf, setVersion, toast } from './api.ts';
import { showCounts } from './counts.ts';
import { startListKeys } from './list-keys.ts';
import { startSearch } from './search.tsx';
import { keepTimeMode, serverNow, timeMode } from './times.ts';

export interface LivePage<Data> {
  /** Reads what the page shows. */
  load(): Promise<Data>;
  /** @param data undefined: it is being loaded */
  view(data: Data | undefined): VNode;
  /** False when nothing can change any more, or each refresh costs much. @default always true */
  goesOn?(data: Data): boolean;
}

export interface Live {
  refresh(): void;
  /** Draws what is known once more, after a change of the page's own state. */
  draw(): void;
}

/** A second, in milliseconds. */
const SECOND_MS = 1000;
/** Pause between a refresh and the wait for the next change, which the service paces, in seconds. */
const PAUSE_SECONDS = 1;
/** Nothing of these can come back. */
const ENDS: ReadonlySet<string> = new Set(['job.not-found', 'actor.not-found']);

const { poll = '5', refused = '' } = document.body.dataset;
const refusedOperations = refused.split(',');

const main = requireElement('main');
const times = requireElement('#times', HTMLSelectElement);

/** Starts the page: call it once. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a class takes the scripts of its pages over their limit of bytes.
export function startPage<Data>(page: LivePage<Data>): Live {
  let data: Data | undefined;
  let fault: ApiProblem | undefined;
  let drawn: VNode | undefined;
  let mode = timeMode();
  let stopWaiting = () => {};
  /** Number of the current refresh; an overtaken one shows no error. */
  let current = 0;
  /** Version of the service before the last refresh. */
  let version = '';
  /** The service does not hold the requests for changes: it cannot be reached, or too many of them wait. */
  let isUnpaced = false;
  let isLive = true;

  /** Times follow the clock without another drawing of the page. */
  const show = () => {
    if (drawn === undefined) return;
    render(
      <Mode.Provider value={mode}>
        <Clock.Provider value={serverNow()}>{forReader(refusedOperations, drawn)}</Clock.Provider>
      </Mode.Provider>,
      main,
    );
  };
  const draw = () => {
    const before = main.contains(document.activeElement) ? document.activeElement : null;
    drawn =
      fault !== undefined && data === undefined ? (
        <StateOf level="h1" icon="triangle-alert" tone="bad" title={fault.message}>
          <p class="muted">
            <code>{fault.code}</code>
          </p>
          <Button onClick={() => void refresh()}>Try again</Button>
        </StateOf>
      ) : (
        page.view(data)
      );
    show();
    // What had the focus may be gone now, or hidden.
    if (before?.getClientRects().length === 0) main.focus({ preventScroll: true });
  };

  async function refresh({ shared = false } = {}): Promise<void> {
    stopWaiting();
    setVersion(shared ? version : '');
    void showCounts(shared);
    current += 1;
    const mine = current;
    let goesOn = true;
    try {
      const loaded = await page.load();
      if (mine !== current) return;
      data = loaded;
      fault = undefined;
      goesOn = page.goesOn?.(loaded) ?? true;
    } catch (error) {
      if (mine !== current) return;
      const problem = problemOf(error);
      goesOn = !ENDS.has(problem.code);
      // Shows a repeated error only once.
      const isNew = problem.code !== fault?.code;
      fault = problem;
      if (isNew && !goesOn) toast(problem.code, problem.message);
    }
    draw();
    tellConnection(goesOn ? fault : undefined);
    isLive = goesOn;
    main.setAttribute('data-refreshed', String(current));
    main.setAttribute('data-live', String(goesOn));
    const pause = isUnpaced || fault !== undefined ? Number(poll) : Math.min(Number(poll), PAUSE_SECONDS);
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

  times.value = mode;
  times.addEventListener('change', () => {
    mode = times.value as TimeMode;
    keepTimeMode(mode);
    draw();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stopWaiting();
    else if (isLive) void refresh();
  });
  const tick = () => {
    if (!document.hidden) show();
    delay(SECOND_MS, tick);
  };
  startSearch();
  startListKeys();
  startDrops();
  // The caller has the result first.
  void Promise.resolve().then(() => {
    draw();
    tick();
    void refresh();
  });
  return { refresh: () => void refresh(), draw };
}

/** Says that what is shown is old while refreshes fail; the page goes on trying. */
function tellConnection(problem: ApiProblem | undefined): void {
  const place = requireElement('#connection');
  place.hidden = problem === undefined;
  setText(
    place,
    problem === undefined ? '' : `${problem.message} What is shown may be old; the page goes on trying.`,
  );
}
