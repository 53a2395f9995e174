/**
 * Keeps a page of a sender up to date: waits for a change of the organization's documents, then reads the page again, whose
 * data is a block of JSON in it. A hidden page sends nothing.
 */
import { below, currentTime, delay, parseHtml, requireElement, setText } from '../../dom.ts';

/** Pause after a failure, milliseconds. */
const PAUSE_MS = 5_000;
/** An answer within this time was not held by the service, for which too many pages wait, milliseconds. */
const QUICK_MS = 1_000;

export interface LiveOptions<Data> {
  /** Shown while the service cannot be reached. */
  readonly stale: string;
  /** @param page the page that was read */
  show(data: Data, page: Document): void;
}

/** The returned function reads the page at once, such as after an action. */
export function keepLive<Data>({ stale, show }: LiveOptions<Data>): () => Promise<void> {
  let version = '';
  let stop = () => {};

  /** The session is over when the service leads elsewhere. A service that cannot answer leaves the page as it is. */
  async function read(): Promise<void> {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (answer.status >= 500) throw new Error(`Answered ${answer.status}.`);
    if (answer.redirected || !answer.ok) return location.reload();
    const page = parseHtml(await answer.text());
    const shown = requireElement('.side nav');
    const fresh = page.querySelector('.side nav');
    // Counts and folders; a link that has the focus stays.
    if (fresh !== null && shown.textContent !== fresh.textContent && !shown.contains(document.activeElement))
      shown.replaceWith(document.adoptNode(fresh));
    const data = page.querySelector('#page-data')?.textContent;
    if (data !== null && data !== undefined) show(JSON.parse(data) as Data, page);
  }

  async function wait(): Promise<void> {
    if (document.hidden) return;
    const waiting = new AbortController();
    const { signal } = waiting;
    stop = () => waiting.abort();
    const known = version;
    const began = currentTime();
    try {
      const query = new URLSearchParams({ after: version });
      const answer = await fetch(below(`/account/changes?${query}`), { signal, redirect: 'manual' });
      if (answer.type === 'opaqueredirect') return location.reload();
      if (!answer.ok) throw new Error(`Answered ${answer.status}.`);
      const { version: announced } = (await answer.json()) as { readonly version: string };
      if (known !== announced) await read();
      // After a failure what was announced is read again.
      version = announced;
      setText(requireElement('#connection'), '');
    } catch {
      if (signal.aborted) return;
      setText(requireElement('#connection'), stale);
      stop = delay(PAUSE_MS, () => void wait());
      return;
    }
    // The page was hidden meanwhile: another wait has begun, or begins when it is shown.
    if (signal.aborted) return;
    if (known === version && currentTime() - began < QUICK_MS) stop = delay(PAUSE_MS, () => void wait());
    else void wait();
  }

  document.addEventListener('visibilitychange', () => {
    stop();
    if (!document.hidden) void wait();
  });
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void read().catch(() => undefined);
  });
  void wait();
  return async () => {
    await read().catch(() => undefined);
  };
}
