/** Displays the file to sign: PDF page by page, pictures and text inline, other types as a download. */

import type { DisplayedFile, SigningData } from '../../pages/portal/page-data.ts';
import { counted } from '../../pages/portal/texts.ts';
import { below, createElement, findElement, requireElement } from '../dom.ts';
import { startGuide } from './guide.ts';
import type { PageSize } from './initials.ts';
import { startPager, startPrint } from './pager.ts';
import { showPdf } from './pdf-view.ts';
import { pageDrawn, pageSeen } from './reading.ts';
import { post } from './requests.ts';

/** Width of the page that stands for a signed document, CSS pixels. */
const SMALL_PAGE_WIDTH = 84;
/** Maximum length of a displayed text. */
const TEXT_BYTES = 1_000_000;

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif']);
const TEXTS = /^(text\/.+|application\/(.+\+)?(xml|json))$/;

export interface ShownDocument {
  /** Sizes of all pages; empty for files without pages. */
  pageSizes(): Promise<readonly PageSize[]>;
}

const WITHOUT_PAGES: ShownDocument = { pageSizes: async () => [] };

/**
 * Rejects when the file cannot be displayed; the page then shows an error already.
 * @param finish when nothing is left to do on the pages; absent where there is nothing to do
 */
export async function showDocument(data: DisplayedFile, finish?: () => void): Promise<ShownDocument> {
  const { mimeType, content, words } = data;
  const state = requireElement('#document-state');
  const type = mimeType.toLowerCase().replace(/;.*/s, '').trim();
  let drawn = Promise.resolve();
  try {
    if (type === 'application/pdf') {
      const pages = requireElement('#pages');
      // The browser's own print command draws no pages: a sheet without one says it.
      pages.style.setProperty('--not-printed', JSON.stringify(words.notPrinted));
      const shown = await showPdf(pages, content, words);
      drawn = shown.anyDrawn;
      state.textContent = counted(document.documentElement.lang, words.showing, shown.count);
      state.className = 'unseen';
      startPager(shown, data.page);
      startPrint(shown, () => {
        state.className = 'hint';
        state.textContent = words.printTooLong;
      });
      for (const place of data.covers) await shown.cover(place);
      for (const mark of data.marks) {
        const label = {
          SignatureVisualRepresentation: words.markSignature,
          SignatureInitials: words.markInitials,
          AuthenticationStamp: words.markStamp,
        }[mark.type];
        await shown.point(mark, label);
      }
      for (const [index, { place, label }] of data.fields.entries()) {
        if (place !== null) await shown.point({ ...place, type: 'Field' }, label, index);
      }
      if (finish !== undefined) startGuide(shown, data, finish);
      document.dispatchEvent(new Event('marks-shown'));
      const small = findElement('#signed-page');
      if (small !== undefined) {
        const number = Number(small.dataset['page']);
        const place = small.dataset['place']?.split(' ').map(Number);
        small.append(await shown.thumbnail(number > 0 ? number : shown.count, SMALL_PAGE_WIDTH, place));
      }
      return shown;
    }
    if (PICTURES.has(type)) {
      const picture = createElement('img', { src: content, alt: requireElement('h1').textContent ?? '' });
      requireElement('#pages').append(picture);
      await picture.decode();
      onePageSeen();
    } else if (TEXTS.test(type)) {
      requireElement('#pages').append(createElement('pre', {}, await beginning(content, words.tooLong)));
      onePageSeen();
    } else {
      requireElement('#pages').remove();
      const other = findElement('#other-file');
      if (other !== undefined) other.hidden = false;
    }
    state.remove();
    document.dispatchEvent(new Event('pages-seen'));
    return WITHOUT_PAGES;
  } catch (error) {
    state.className = 'trouble';
    state.textContent = words.cannotShow;
    throw error;
  } finally {
    const letters = new URL('fonts.css', import.meta.url).href;
    // The letters of the page must not delay the picture of the first page.
    void drawn.then(() => document.head.append(createElement('link', { rel: 'stylesheet', href: letters })));
  }
}

function onePageSeen(): void {
  pageDrawn();
  pageSeen(1, 1);
}

async function beginning(url: string, tooLong: string): Promise<string> {
  const answer = await fetch(below(url), {
    credentials: 'omit',
    headers: { range: `bytes=0-${TEXT_BYTES - 1}` },
  });
  // An empty file has no satisfiable range.
  if (answer.status === 416) return '';
  if (!answer.ok) throw new Error(`The file was answered with ${answer.status}.`);
  const text = await answer.text();
  const whole = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1] ?? 0);
  return whole > TEXT_BYTES ? `${text}\n\n${tooLong}` : text;
}

/** Input events of a person. */
const ACTIONS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/**
 * Tells the service that the participant has opened the document, and has seen its end. Programs that load the page to scan
 * its links do not act on it, so both wait for a first action of a person. Source: docs/decisions/0092-audit-trail.md.
 * @param shown resolves when the document is displayed; undefined for a page without a preview
 */
export function startViewRecord(data: SigningData, shown: Promise<unknown> | undefined): void {
  const acted = new Promise<void>((resolve) => {
    const act = ({ isTrusted }: Event) => {
      if (!isTrusted) return;
      for (const type of ACTIONS) removeEventListener(type, act, true);
      resolve();
    };
    for (const type of ACTIONS) addEventListener(type, act, { capture: true, passive: true });
  });
  const record = (reachedEnd: boolean) => post(data, 'view', { reachedEnd }).catch(() => undefined);
  const opened = acted.then(() => record(false));
  if (shown === undefined) return;
  void Promise.all([shown.then(endSeen), opened]).then(() => record(true));
}

/** Resolves when the end of the last page, or of a file without pages, has been in the window. */
async function endSeen(): Promise<void> {
  const pages = findElement('#pages');
  const end = document.createElement('div');
  end.className = 'document-end';
  (pages ?? findElement('#document'))?.append(end);
  await new Promise<void>((resolve) => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(end);
  });
}
