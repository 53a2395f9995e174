/** Shows the file that is to be signed: PDF drawn page by page, pictures and text plainly, anything else to download. */
import { make, maybe, part } from './dom.ts';
import type { PageSize } from './initials.ts';
import { filled, type SigningData } from './page-data.ts';

/** Most of a text that is shown. */
const TEXT_BYTES = 1_000_000;

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif']);
const TEXTS = /^(text\/.+|application\/(.+\+)?(xml|json))$/;

export interface ShownDocument {
  /** Of every page; none for files without pages. */
  pageSizes(): Promise<readonly PageSize[]>;
}

const WITHOUT_PAGES: ShownDocument = { pageSizes: async () => [] };

/** Rejects when the file cannot be shown; the page then says so already. */
export async function showDocument(data: SigningData): Promise<ShownDocument> {
  const { mimeType, content, words } = data;
  const state = part('#document-state');
  const type = mimeType.toLowerCase().replace(/;.*$/, '').trim();
  try {
    if (type === 'application/pdf') {
      const { showPdf } = await import('./pdf-view.ts');
      const shown = await showPdf(part('#pages'), content, words);
      state.textContent = filled(words.showing, { count: shown.count });
      state.className = 'unseen';
      const { startPager } = await import('./pager.ts');
      startPager(shown, data.page);
      for (const mark of data.marks) {
        const label = {
          SignatureVisualRepresentation: words.markSignature,
          SignatureInitials: words.markInitials,
          AuthenticationStamp: words.markStamp,
        }[mark.type];
        await shown.point(mark, label);
      }
      return shown;
    }
    if (PICTURES.has(type)) {
      const picture = make('img', { src: content, alt: part('h1').textContent ?? '' });
      part('#pages').append(picture);
    } else if (TEXTS.test(type)) {
      part('#pages').append(make('pre', {}, await beginning(content, words.tooLong)));
    } else {
      part('#pages').remove();
      const other = maybe('#other-file');
      if (other !== undefined) other.hidden = false;
    }
    state.remove();
    return WITHOUT_PAGES;
  } catch (error) {
    state.className = 'trouble';
    state.textContent = words.cannotShow;
    throw error;
  }
}

async function beginning(url: string, tooLong: string): Promise<string> {
  const answer = await fetch(url, { credentials: 'omit', headers: { range: `bytes=0-${TEXT_BYTES - 1}` } });
  // An empty file has no range.
  if (answer.status === 416) return '';
  if (!answer.ok) throw new Error(`The file was answered with ${answer.status}.`);
  const text = await answer.text();
  const whole = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1] ?? 0);
  return whole > TEXT_BYTES ? `${text}\n\n${tooLong}` : text;
}
