/**
 * The signing page: title, participants and actions are in the HTML, so that they are there before any script is;
 * the document itself is drawn by a script.
 */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import type { Millis } from '../../../machines/ids.ts';
import { escapeHtml } from '../../html.ts';
import { portalPage, type Theme } from './frame.ts';
import { actionForms } from './signing-form.ts';
import { filled, type PageWords } from './texts/words.ts';

/** How the page is wanted. Source: portal-gaps §9, query parameters. */
export interface SigningWishes {
  readonly embedded: boolean;
  /** Notices are sent after a signature. */
  readonly notify: boolean;
  /** From 1; -1 = the last. */
  readonly page: number | undefined;
  /** `PageWidth`, or per cent. */
  readonly scale: string | undefined;
  readonly hideDocument: boolean;
  readonly refusing: boolean;
  readonly theme: Theme | undefined;
}

/** Where the page's script asks, and what it shows. */
export interface SigningAddresses {
  readonly key: string;
  readonly ticket: string;
  /** Path of the file. */
  readonly content: string;
  /** Path of this page. */
  readonly self: string;
}

const ZOOMS = ['50', '75', '100', '125', '150', '200', '300'];
/** What `signing.js` imports at once. */
const SCRIPTS = [
  'dom.js',
  'page-data.js',
  'requests.js',
  'outcome.js',
  'afterwards.js',
  'document-view.js',
  'parent-window.js',
];
const PDF_SCRIPTS = ['pdf-view.js', 'pdf-library.js', 'pager.js'];
const NAME_SCRIPTS = ['electronic.js', 'drawing.js', 'initials.js'];
const CERTIFICATE_SCRIPTS = ['certificate.js', 'initials.js'];

/** Everything this page will import, so that browsers ask for it in one go. */
function scriptsFor(mimeType: string, action: NonNullable<SigningPageView['action']>, approves: boolean) {
  return [
    'signing.js',
    ...new Set([
      ...SCRIPTS,
      ...(mimeType === 'application/pdf' ? PDF_SCRIPTS : []),
      ...(!approves && action.allowElectronicSignature ? NAME_SCRIPTS : []),
      ...(approves ? [] : CERTIFICATE_SCRIPTS),
    ]),
  ];
}

export function signingPage(
  view: SigningPageView,
  words: PageWords,
  wishes: SigningWishes,
  addresses: SigningAddresses,
): string {
  const { document: shown, action } = view;
  if (view.state !== 'ready' || shown === undefined || action === undefined) {
    return quietPage(view, words, wishes, addresses);
  }
  const { signing } = words;
  const approves = action.type === 'Approver' || action.type === 'ApproverRule';
  const act = approves ? signing.approveTitle : signing.signTitle;
  const name = action.participant.name ?? action.participant.email ?? signing.unnamed;
  const actingAs =
    action.title === null
      ? filled(signing.actingAs, { name })
      : filled(signing.actingAsTitle, { name, title: action.title });
  const refusing = wishes.refusing || !wishes.embedded;
  const main = `<a class="skip" href="#actions">${escapeHtml(words.skip)}</a>
<main id="main" class="columns${wishes.hideDocument ? ' without-document' : ''}">
${heading(view, words)}
${wishes.hideDocument ? '' : documentPart(shown.mimeType, words, wishes, addresses)}
<section id="actions" class="actions" aria-labelledby="actions-title" tabindex="-1">
<h2 id="actions-title">${escapeHtml(act)}</h2>
<p id="acting">${escapeHtml(actingAs)}</p>
<noscript><p class="trouble">${escapeHtml(words.needsScript)}</p></noscript>
<div id="outcome" class="outcome" role="status" aria-live="polite" tabindex="-1"></div>
<div id="afterwards"></div>
<div id="forms">
${actionForms(action, words, refusing)}
</div>
${participantList(view, words, 'h3')}
</section>
<a class="button main jump" id="jump" href="#actions">${escapeHtml(act)}</a>
</main>`;
  return portalPage({
    words,
    title: `${act}: ${shown.name}`,
    theme: wishes.theme,
    kind: wishes.embedded ? 'signing embedded' : 'signing',
    scripts: scriptsFor(shown.mimeType, action, approves),
    data: {
      ...addresses,
      documentId: shown.id,
      documentVersion: shown.version,
      mimeType: shown.mimeType,
      embedded: wishes.embedded,
      disableNotifications: wishes.embedded && !wishes.notify,
      page: wishes.page ?? null,
      embedOrigins: view.embedOrigins,
      marks: action.marks,
      maskedEmail: action.maskedEmail,
      initialsMode: action.initialsMode,
      words: signing.script,
    },
    main,
  });
}

function heading({ document: shown }: SigningPageView, words: PageWords): string {
  if (shown === undefined) return '';
  const { signing } = words;
  const lines = [
    `<p class="from">${escapeHtml(filled(words.from, { organization: shown.organizationName }))}</p>`,
  ];
  lines.push(`<h1>${escapeHtml(shown.name)}</h1>`);
  if (shown.description !== null) lines.push(`<p class="description">${escapeHtml(shown.description)}</p>`);
  if (shown.expirationDate !== null) {
    const date = dayOf(shown.expirationDate, words);
    lines.push(`<p class="hint">${escapeHtml(filled(signing.expires, { date }))}</p>`);
  }
  if (shown.isNewVersion) lines.push(`<p class="trouble">${escapeHtml(signing.newVersion)}</p>`);
  return `<header class="heading">\n${lines.join('\n')}\n</header>`;
}

function documentPart(
  mimeType: string,
  words: PageWords,
  wishes: SigningWishes,
  { content }: SigningAddresses,
): string {
  const { signing } = words;
  const download = `<a class="button" id="download" href="${escapeHtml(content)}" download>${escapeHtml(signing.download)}</a>`;
  const zooms = ZOOMS.map((value) => {
    const chosen = wishes.scale === value ? ' selected' : '';
    return `<option value="${value}"${chosen}>${value} %</option>`;
  });
  const pager = `<button type="button" id="previous" aria-label="${escapeHtml(signing.previous)}" disabled>&#8593;</button>
<button type="button" id="next" aria-label="${escapeHtml(signing.next)}" disabled>&#8595;</button>
<label>${escapeHtml(signing.page)} <input id="page-number" inputmode="numeric" size="3" value="1" autocomplete="off"></label>
<span id="page-count"></span>
<label>${escapeHtml(signing.zoom)} <select id="zoom"><option value="PageWidth">${escapeHtml(signing.fitWidth)}</option>${zooms.join('')}</select></label>
`;
  const isPdf = mimeType === 'application/pdf';
  return `<section id="document" class="document" aria-label="${escapeHtml(signing.document)}">
<div class="tools" role="group" aria-label="${escapeHtml(signing.tools)}">
${isPdf ? pager : ''}${download}
</div>
<p id="document-state" class="hint" role="status">${escapeHtml(signing.loading)}</p>
<div id="pages" class="pages" tabindex="0" role="group" aria-label="${escapeHtml(signing.document)}"></div>
<p id="other-file" class="hint" hidden>${escapeHtml(signing.otherFile)}</p>
</section>`;
}

function participantList(
  { participants = [] }: SigningPageView,
  { signing }: PageWords,
  heading: 'h2' | 'h3',
): string {
  if (participants.length === 0) return '';
  const items = participants.map(({ name, type, status, isYou }) => {
    const you = isYou ? ` (${escapeHtml(signing.you)})` : '';
    const who = `<span class="who"><bdi>${escapeHtml(name ?? signing.unnamed)}</bdi>${you}</span>`;
    const what = `<span class="what">${escapeHtml(signing.doings[type][status])}</span>`;
    return `<li${isYou ? ' aria-current="true"' : ''} data-status="${status}">${who} ${what}</li>`;
  });
  return `<div class="people">
<${heading}>${escapeHtml(signing.participants)}</${heading}>
<ol class="participants" role="list">
${items.join('\n')}
</ol>
</div>`;
}

/** Any other state: one page each. The signing page takes from `#state` what it shows when somebody has acted. */
function quietPage(
  view: SigningPageView,
  words: PageWords,
  wishes: SigningWishes,
  addresses: SigningAddresses,
): string {
  const { state, document: shown } = view;
  const notice = words.states[state === 'ready' ? 'unknown' : state];
  const about =
    shown === undefined
      ? ''
      : `<p class="hint"><bdi>${escapeHtml(shown.name)}</bdi><br>${escapeHtml(filled(words.from, { organization: shown.organizationName }))}</p>\n`;
  return portalPage({
    words,
    title: shown === undefined ? notice.title : `${notice.title}: ${shown.name}`,
    theme: wishes.theme,
    kind: `quiet ${wishes.embedded ? 'embedded ' : ''}state-${state}`,
    main: `<main id="main" class="notice" tabindex="-1">
<h1>${escapeHtml(notice.title)}</h1>
${about}<div id="state" data-state="${state}">
<p>${escapeHtml(notice.text)}</p>
${stateDetails(view, words, wishes, addresses)}
</div>
${participantList(view, words, 'h2')}
</main>`,
  });
}

function stateDetails(
  { state, document: shown, isLinkOver }: SigningPageView,
  words: PageWords,
  { embedded }: SigningWishes,
  { self, content, key }: SigningAddresses,
): string {
  if (shown === undefined) return '';
  const button = (href: string, text: string, more = '') =>
    `<a class="button" href="${escapeHtml(href)}"${more}>${escapeHtml(text)}</a>`;
  switch (state) {
    case 'refused':
    case 'canceled': {
      const { statusReason: reason } = shown;
      return reason === null ? '' : `<p>${escapeHtml(filled(words.reasonGiven, { reason }))}</p>`;
    }
    case 'waiting-for-turn':
    case 'processing':
      return `<p class="ways">${button(self, words.again)}</p>`;
    case 'done':
    case 'concluded': {
      const ways = [
        ...(isLinkOver === true ? [] : [button(content, words.signing.download, ' download')]),
        ...(state === 'concluded' && !embedded
          ? [button(`/check/${encodeURIComponent(key)}`, words.check.title)]
          : []),
      ];
      return ways.length === 0 ? '' : `<p class="ways">${ways.join('\n')}</p>`;
    }
    default:
      return '';
  }
}

/** A whole day, as the language writes it. */
function dayOf(at: Millis, { language }: PageWords): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(at);
}
