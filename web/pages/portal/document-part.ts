/** Parts of the pages of a document: the place of its file with its tools, its participants, and the languages. */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import type { PortalFrame } from './page-frame.ts';
import type { SigningAddresses } from './signing-options.ts';
import { LANGUAGE_NAMES, type PageTexts } from './texts.ts';

const ZOOMS = ['50', '75', '100', '125', '150', '200', '300'];

/** @param download path of the file; absent where the page offers it elsewhere, together with the guide */
export function documentPart(
  mimeType: string,
  words: PageTexts,
  { scale, download: path }: { readonly scale: string | undefined; readonly download?: string },
): Html {
  const { signing } = words;
  const download =
    path === undefined
      ? ''
      : html`<a class="button" id="download" href="${path}" download>${signing.download}</a>`;
  const zooms = ZOOMS.map((value) => {
    const chosen = scale === value ? html` selected` : '';
    return html`<option value="${value}"${chosen}>${value} %</option>`;
  });
  const pager = html`<button type="button" id="previous" aria-label="${signing.previous}" disabled>&#8593;</button>
<button type="button" id="next" aria-label="${signing.next}" disabled>&#8595;</button>
<label>${signing.page} <input id="page-number" inputmode="numeric" size="3" value="1" autocomplete="off"></label>
<span id="page-count"></span>
<label>${signing.zoom} <select id="zoom"><option value="PageWidth">${signing.fitWidth}</option>${zooms}</select></label>
<button type="button" id="print" hidden>${signing.print}</button>
`;
  const isPdf = mimeType === 'application/pdf';
  return html`<section id="document" class="document" aria-label="${signing.document}">
<div class="tools" role="group" aria-label="${signing.tools}">
${isPdf ? pager : ''}${download}
</div>
${isPdf && path !== undefined ? guidePart(words) : ''}
<p id="document-state" class="hint" role="status">${signing.loading}</p>
<div id="pages" class="pages" tabindex="0" role="group" aria-label="${signing.document}"></div>
<p id="other-file" class="hint" hidden>${signing.otherFile}</p>
</section>`;
}

/** Hidden until the document is shown. */
function guidePart({ signing }: PageTexts): Html {
  return html`<div id="guide" class="guide" hidden>
<button type="button" id="guide-next"></button> <span id="guide-progress" role="status"></span>
<button type="button" id="guide-unseen"></button>
<details id="thumbnails"><summary>${signing.thumbnails}</summary>
<ol class="thumbnails" role="list"></ol>
</details>
</div>`;
}

/** The page in the other languages; typed text stays. */
export function languageSwitch(
  { language, languages }: PageTexts,
  { self }: Pick<SigningAddresses, 'self'>,
): Html {
  const plain = self.replace(/&culture=[^&]*/, '');
  const links = LANGUAGE_NAMES.map(([tag, name]) => {
    const current = tag === language ? html` aria-current="true"` : '';
    return html`<a href="${plain}&culture=${tag}" lang="${tag}" hreflang="${tag}"${current}>${name}</a>`;
  });
  return html`<nav class="languages" aria-label="${languages}">${links}</nav>`;
}

export function participantList(
  { participants = [] }: SigningPageView,
  { signing }: PageTexts,
  heading: 'h2' | 'h3',
): Html {
  if (participants.length === 0) return html``;
  const items = participants.map(({ name, type, status, isYou }) => {
    const you = isYou ? html` (${signing.you})` : '';
    const who = html`<span class="who"><bdi>${name ?? signing.unnamed}</bdi>${you}</span>`;
    const what = html`<span class="what">${signing.doings[type][status]}</span>`;
    return html`<li${isYou ? html` aria-current="true"` : ''} data-status="${status}">${who} ${what}</li>`;
  });
  return html`<div class="people">
<${heading}>${signing.participants}</${heading}>
<ol class="participants" role="list">
${lines(items)}
</ol>
</div>`;
}

/**
 * Longest PDF that is requested together with pdf.js, bytes. pdf.js requests a file of this length whole, of which it
 * would otherwise learn the address only once it runs; of longer files it reads ranges.
 */
const MAX_PRELOAD_BYTES = 128 * 1024;

/** Parts of a page's head that bring its PDF to the screen early; none for other files. */
export function earlyParts(
  { mimeType, length }: Pick<NonNullable<SigningPageView['document']>, 'mimeType' | 'length'>,
  content: string,
): Pick<PortalFrame, 'early' | 'preload'> {
  if (mimeType !== 'application/pdf') return {};
  return { early: 'early-pdf.js', preload: length <= MAX_PRELOAD_BYTES ? content : undefined };
}
