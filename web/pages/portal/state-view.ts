/** Pages of a document on which its participant cannot act: before the turn, afterwards, and when a link is over. */

import type { SigningPageView } from '../../../actors/portal/api.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import { documentPart, earlyParts, languageSwitch, participantList } from './document-part.ts';
import type { FrameEvent, StateData } from './page-data.ts';
import { message, portalPage, type Theme } from './page-frame.ts';
import type { SigningAddresses, SigningPageOptions } from './signing-options.ts';
import { filled, type PageMessage, type PageTexts } from './texts.ts';

const SCRIPT = 'state-client.js';

/** Page in a frame of an origin that may not show the document. It has nothing of the document. */
export function refusedFramePage(words: PageTexts, theme: Theme | undefined): string {
  return portalPage({
    words,
    title: words.refusedFrame.title,
    theme,
    kind: 'quiet embedded',
    script: SCRIPT,
    data: { events: [{ type: 'error', code: 'FrameRefused' }], embedOrigins: [] } satisfies StateData,
    main: message(words.refusedFrame),
  });
}

/** A page with one message. */
export function noticePage(notice: PageMessage, words: PageTexts, theme: Theme | undefined): string {
  return portalPage({ words, title: notice.title, theme, kind: 'quiet', main: message(notice) });
}

/** Pages of the other states. The signing page takes the content of `#state` after an action. */
export function statePage(
  view: SigningPageView,
  words: PageTexts,
  wishes: SigningPageOptions,
  addresses: SigningAddresses,
): string {
  const { state, document: shown } = view;
  const notice = words.states[state === 'ready' ? 'unknown' : state];
  const about =
    shown === undefined
      ? ''
      : html`<p class="hint"><bdi>${shown.name}</bdi><br>${filled(words.from, { organization: shown.organizationName })}</p>\n`;
  const events = wishes.embedded && view.embedOrigins.length > 0 ? stateEvents(view) : [];
  const pdf = isOpenToRead(view) && shown?.mimeType === 'application/pdf' ? shown : undefined;
  const embedded = wishes.embedded ? 'embedded ' : '';
  const text = html`${wishes.embedded ? '' : languageSwitch(words, addresses)}
<h1>${notice.title}</h1>
${about}<div id="state" data-state="${state}">
<p>${stateText(view, words)}</p>
${view.canRequestLink === true ? newLinkForm(words, addresses) : ''}${stateDetails(view, words, wishes, addresses)}
</div>
${participantList(view, words, 'h2')}`;
  return portalPage({
    words,
    ...((events.length > 0 || pdf !== undefined) && {
      script: SCRIPT,
      data: {
        events,
        embedOrigins: view.embedOrigins,
        ...(pdf !== undefined && {
          shown: {
            ...{ content: addresses.content, mimeType: pdf.mimeType, words: words.signing.script },
            ...{ page: wishes.page ?? null, marks: [], covers: pdf.covers ?? [], fields: [] },
          },
        }),
      } satisfies StateData,
    }),
    ...(pdf !== undefined && earlyParts(pdf, addresses.content)),
    title: shown === undefined ? notice.title : `${notice.title}: ${shown.name}`,
    theme: wishes.theme,
    branding: view.branding,
    kind: `${pdf === undefined ? 'quiet' : 'signing'} ${embedded}state-${state}`,
    main:
      pdf === undefined
        ? html`<main id="main" class="notice" tabindex="-1">
${text}
</main>`
        : html`<main id="main" class="columns signed" tabindex="-1">
<div class="actions">
${text}
</div>
${documentPart(pdf.mimeType, words, { scale: wishes.scale })}
</main>`,
  });
}

/** True when the participant has acted or only reads, and the link still opens the file. */
function isOpenToRead({ state, isLinkOver }: SigningPageView): boolean {
  return (state === 'done' || state === 'concluded' || state === 'observing') && isLinkOver !== true;
}

/** Events for the parent window. An unknown link has no organization that could list origins. */
function stateEvents({ state, document: shown }: SigningPageView): readonly FrameEvent[] {
  if (shown === undefined) return [];
  const { id } = shown;
  switch (state) {
    case 'waiting-for-turn':
    case 'processing':
      return [{ type: 'waiting', id }];
    case 'expired':
      return [{ type: 'expired', id }];
    case 'refused':
      return [
        { type: 'refused', id },
        { type: 'closed', id },
      ];
    default:
      return [{ type: 'closed', id }];
  }
}

function newLinkForm({ newLink }: PageTexts, addresses: SigningAddresses): Html {
  return html`<form method="post" action="${addresses.newLink}">
<button type="submit" class="main">${newLink.button}</button>
</form>
`;
}

/** Leaves out other participants if there are none. */
function stateText(view: SigningPageView, words: PageTexts): string {
  const { state, participants = [], canRequestLink, isObserver = false } = view;
  if (canRequestLink === true) return words.newLink.text;
  const isAlone = participants.length === 1 && !isObserver;
  if (isAlone && (state === 'done' || state === 'concluded')) return words.statesAlone[state];
  return words.states[state === 'ready' ? 'unknown' : state].text;
}

function stateDetails(
  view: SigningPageView,
  words: PageTexts,
  { embedded }: SigningPageOptions,
  { self, content, key }: SigningAddresses,
): Html {
  const { state, document: shown } = view;
  if (shown === undefined) return html``;
  switch (state) {
    case 'refused':
    case 'canceled': {
      const { statusReason: reason } = shown;
      return reason === null ? html`` : html`<p>${filled(words.reasonGiven, { reason })}</p>`;
    }
    case 'waiting-for-turn':
    case 'observing':
    case 'processing':
      return html`<p class="ways">${button(self, words.again)}</p>`;
    case 'done':
    case 'concluded': {
      const ways = isOpenToRead(view) ? downloads(shown, words, content) : [];
      if (isSigned(shown) && !embedded)
        ways.push(button(`/check/${encodeURIComponent(key)}`, words.check.title));
      const buttons = ways.length === 0 ? '' : html`\n<p class="ways">${lines(ways)}</p>`;
      return html`${signatureList(shown, words)}${buttons}`;
    }
    default:
      return html``;
  }
}

type PageDocument = NonNullable<SigningPageView['document']>;

function isSigned({ signatures = [] }: PageDocument): boolean {
  return signatures.length > 0;
}

function button(href: string, text: string, more: Html = html``): Html {
  return html`<a class="button" href="${href}"${more}>${text}</a>`;
}

/** Each file under a name that says what it is. */
function downloads(shown: PageDocument, { signing }: PageTexts, content: string): Html[] {
  const file = (href: string, text: string) => button(href, text, html` download`);
  if (!isSigned(shown)) return [file(content, signing.download)];
  const manifest = file(`${content}&type=SignaturesManifest`, signing.downloadManifest);
  const signatures = `${content}&type=Signatures`;
  return shown.isSignedBeside === true
    ? [file(content, signing.download), file(signatures, signing.downloadSignatures), manifest]
    : [file(signatures, signing.downloadSigned), manifest];
}

function signatureList({ signatures = [] }: PageDocument, { language, signing, check }: PageTexts): Html {
  if (signatures.length === 0) return html``;
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  const items = signatures.map(
    ({ name, kind, at }) =>
      html`<li><bdi>${name ?? signing.unnamed}</bdi><span class="hint">${check[kind]}, ${time.format(at)} (UTC)</span></li>`,
  );
  return html`<h2>${check.signatures}</h2>
<ul class="signatures">
${lines(items)}
</ul>`;
}
