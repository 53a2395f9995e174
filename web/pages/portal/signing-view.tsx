/**
 * The signing page: title, participants and actions are in the HTML, so that they are visible before any script runs;
 * a script draws the document.
 */

import type { SigningPageView } from '../../../actors/portal/api.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import type { Millis } from '../../../machines/ids.ts';
import { markup } from '../../components/markup.tsx';
import { DocumentPart, earlyParts, LanguageSwitch, ParticipantList } from './document-part.tsx';
import type { SigningData } from './page-data.ts';
import { portalPage } from './page-frame.tsx';
import { actionForms } from './signing-form.ts';
import type { SigningAddresses, SigningPageOptions } from './signing-options.ts';
import { statePage } from './state-view.tsx';
import { filled, type PageTexts } from './texts.ts';

export function signingPage(
  view: SigningPageView,
  words: PageTexts,
  wishes: SigningPageOptions,
  addresses: SigningAddresses,
): string {
  const { document: shown, action } = view;
  if (view.state !== 'ready' || shown === undefined || action === undefined) {
    return statePage(view, words, wishes, addresses);
  }
  const { signing } = words;
  const { attachment: _attachment, newLink: _newLink, ...page } = addresses;
  const approves = action.type === 'Approver' || action.type === 'ApproverRule';
  const act = approves ? signing.approveTitle : signing.signTitle;
  const name = action.participant.name ?? action.participant.email ?? signing.unnamed;
  const actingAs =
    action.title === null
      ? filled(signing.actingAs, { name })
      : filled(signing.actingAsTitle, { name, title: action.title });
  const refusing = wishes.refusing || !wishes.embedded;
  const main = html`<a class="skip" href="#actions">${words.skip}</a>
<main id="main" class="columns${wishes.hideDocument ? html` without-document` : ''}">
${wishes.embedded ? '' : markup(<LanguageSwitch words={words} self={addresses.self} />)}
${heading(view, words)}
${attachmentList(view, words, addresses)}
${
  wishes.hideDocument
    ? ''
    : markup(
        <DocumentPart
          mimeType={shown.mimeType}
          words={words}
          scale={wishes.scale}
          download={addresses.content}
        />,
      )
}
<section id="actions" class="actions" aria-labelledby="actions-title" tabindex="-1">
<h2 id="actions-title">${act}</h2>
<p id="acting">${actingAs}</p>
<noscript><p class="trouble">${words.needsScript}</p></noscript>
<div id="outcome" class="outcome" role="status" aria-live="polite" tabindex="-1"></div>
<div id="afterwards"></div>
<div id="forms">
${actionForms(action, words, { refusing, alone: view.participants?.length === 1 })}
</div>
${markup(<ParticipantList view={view} words={words} heading="h3" />)}
</section>
<a class="button main jump" id="jump" href="#actions">${act}</a>
</main>`;
  return portalPage({
    words,
    title: `${act}: ${shown.name}`,
    theme: wishes.theme,
    branding: view.branding,
    kind: wishes.embedded ? 'signing embedded' : 'signing',
    ...(wishes.hideDocument ? {} : earlyParts(shown, addresses.content)),
    script: 'signing-client.js',
    data: {
      ...page,
      documentId: shown.id,
      documentVersion: shown.version,
      mimeType: shown.mimeType,
      embedded: wishes.embedded,
      disableNotifications: wishes.embedded && !wishes.notify,
      page: wishes.page ?? null,
      embedOrigins: view.embedOrigins,
      marks: action.marks,
      covers: shown.covers ?? [],
      fields: (action.fields ?? []).map(({ name, label, place }) => ({ name, label, place })),
      maskedEmail: action.maskedEmail,
      initialsMode: action.initialsMode,
      redirectUrl: wishes.embedded ? null : (view.redirectUrl ?? null),
      words: signing.script,
    } satisfies SigningData,
    main,
  });
}

function heading({ document: shown }: SigningPageView, words: PageTexts): Html {
  if (shown === undefined) return html``;
  const { signing } = words;
  const rows = [html`<p class="from">${filled(words.from, { organization: shown.organizationName })}</p>`];
  rows.push(html`<h1>${shown.name}</h1>`);
  if (shown.description !== null) rows.push(html`<p class="description">${shown.description}</p>`);
  if (shown.expirationDate !== null) {
    const date = dayOf(shown.expirationDate, words);
    rows.push(html`<p class="hint">${filled(signing.expires, { date })}</p>`);
  }
  if (shown.isNewVersion) rows.push(html`<p class="trouble">${signing.newVersion}</p>`);
  return html`<header class="heading">\n${lines(rows)}\n</header>`;
}

function attachmentList(
  { document: shown }: SigningPageView,
  { signing }: PageTexts,
  { attachment }: SigningAddresses,
): Html {
  const attachments = shown?.attachments ?? [];
  if (attachments.length === 0) return html``;
  const entries = attachments.map(
    ({ id, name }) => html`<li><a href="${attachment(id)}" download>${name}</a></li>`,
  );
  return html`<section class="attachments" aria-labelledby="attachments-title">
<h2 id="attachments-title">${signing.attachments}</h2>
<ul>
${lines(entries)}
</ul>
</section>`;
}

/** A day in the format of the language. */
function dayOf(at: Millis, { language }: PageTexts): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(at);
}
