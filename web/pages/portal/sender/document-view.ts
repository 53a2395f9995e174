/** One document for its senders: state, participants, downloads, history and actions. Works without scripts. */

import type { SignedInUser } from '../../../../actors/portal/api.ts';
import type { DocumentHistoryEntry } from '../../../../contracts/portal/document-history.ts';
import type { DocumentView } from '../../../../contracts/portal/documents.ts';
import type { FlowActionView } from '../../../../contracts/portal/flow.ts';
import type { Mail } from '../../../../contracts/portal/mails.ts';
import type { DownloadType } from '../../../../contracts/portal/words.ts';
import { type Html, html, lines } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { type AccountPage, accountPage, addressFrom, form } from '../account-frame.ts';
import { filled, type SenderTexts } from '../texts.ts';
import { timeOf } from './times.ts';

export interface SenderDocument {
  readonly document: DocumentView;
  /** Newest first. */
  readonly mails: readonly Mail[];
  /** Newest first. */
  readonly history: readonly DocumentHistoryEntry[];
  /** Address of older entries; undefined: there are none. */
  readonly older: string | undefined;
  /** The action that led to the page. */
  readonly done: 'sent' | 'reminded' | 'canceled' | 'replaced' | 'mailResent' | undefined;
  readonly folders: readonly FolderName[];
  /** Path of the file to show; undefined: it has no pages. */
  readonly preview: string | undefined;
}

interface FolderName {
  readonly id: string;
  readonly name: string;
}

/** Data for the script of the page. */
export interface SenderDocumentData {
  readonly formToken: string;
  readonly documentId: string;
  readonly preview: string | undefined;
  readonly folderId: string | null;
  readonly folders: readonly FolderName[];
  readonly words: SenderTexts['editor']['script'];
  readonly changes: SenderTexts['page']['changes'];
}

export function senderDocumentPage(page: AccountPage, user: SignedInUser, shown: SenderDocument): string {
  const texts = TEXTS[page.words.language].senders;
  const { document, done } = shown;
  const isOpen = document.status === 'Pending' && !document.isDeleted;
  const main = html`${done === undefined ? '' : html`<p class="outcome good" role="status">${texts.page[done]}</p>`}
<p><a href="${addressFrom(page, '/account/documents')}">${texts.page.back}</a></p>
<div id="document" class="stack">
<section>
${firstPage(shown)}
${facts(page, texts, document)}
${downloads(texts, document)}
${document.isDeleted ? '' : html`<p class="ways">${change(texts, 'move', {})}</p>`}
</section>
<section>
${participants(page, user, texts, document)}
</section>
<section>
${(isOpen || document.status === 'Refused') && !document.isEnvelope ? newVersion(texts) : ''}
${asTemplate(page, user, texts, document)}
${isOpen ? cancellation(page, user, texts, document) : ''}
</section>
${mailsPart(page, user, texts, shown)}
<section>
${historyPart(page, texts, shown)}
</section>
</div>`;
  const data: SenderDocumentData = {
    ...{ formToken: user.formToken, documentId: document.id, folders: foldersFor(shown) },
    folderId: document.folder?.id ?? null,
    preview: shown.preview,
    words: texts.editor.script,
    changes: texts.page.changes,
  };
  return accountPage(page, user, {
    title: document.name,
    main,
    script: 'document.js',
    data,
    facts: { folders: shown.folders, current: '/account/documents' },
  });
}

/** Place of a picture of the first page. */
function firstPage({ document: { checksumMd5 }, preview }: SenderDocument): Html {
  return preview === undefined ? html`` : html`<p id="first-page" data-version="${checksumMd5}"></p>`;
}

/** Folders to choose from; that of the document is among them, although not all are offered. */
function foldersFor({ document: { folder }, folders }: SenderDocument): readonly FolderName[] {
  if (folder === null || folders.some(({ id }) => id === folder.id)) return folders;
  return [{ id: folder.id, name: folder.name }, ...folders];
}

/** A button of the script, which shows it. @param about the person */
function change(
  { page }: SenderTexts,
  what: keyof SenderTexts['page']['changes']['buttons'],
  about: {
    readonly action?: string;
    readonly member?: string;
    readonly name?: string;
    readonly email?: string;
  },
): Html {
  const { action = '', member = '', name = '', email = '' } = about;
  const label = page.changes.buttons[what];
  return html`<button type="button" hidden data-do="${what}" data-action="${action}" data-member="${member}" data-name="${name}" data-email="${email}"${name === '' ? '' : html` aria-label="${label}: ${name}"`}>${label}</button>
`;
}

/**
 * Changes of a person who has not acted. Of XML nobody is replaced: the API does not show which element the person signs.
 */
function personChanges(texts: SenderTexts, action: FlowActionView, isXml: boolean): Html {
  const { id, user, status, signRuleUsers } = action;
  if (user === null) {
    const left = signRuleUsers.filter(
      ({ signatureDate, hasRefused }) => signatureDate === null && !hasRefused,
    );
    return html`${left.map((one) => change(texts, 'address', aboutOf(id, one, one.id)))}`;
  }
  const about = aboutOf(id, user, '');
  return html`${change(texts, 'address', about)}${isXml ? '' : change(texts, 'replace', about)}${status === 'Pending' && user.email !== null ? change(texts, 'link', about) : ''}`;
}

function aboutOf(
  action: string,
  { name, email }: { readonly name: string | null; readonly email: string | null },
  member: string,
) {
  return { action, member, name: name ?? email ?? '', email: email ?? '' };
}

function facts({ words }: AccountPage, { page, statuses }: SenderTexts, document: DocumentView): Html {
  const { language } = words;
  const { status } = document;
  const rows: (readonly [string, string | Html])[] = [
    [page.status, html`<span class="status" data-status="${status}">${statuses[status]}</span>`],
    [page.created, timeOf(language, document.creationDate)],
    ...(document.expirationDate === null
      ? []
      : [[page.expires, timeOf(language, document.expirationDate)] as const]),
    ...(document.statusUpdateReason === null ? [] : [[page.reason, document.statusUpdateReason] as const]),
  ];
  return html`<dl class="facts">
${lines(rows.map(([name, value]) => html`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>`))}
</dl>`;
}

function participants(
  page: AccountPage,
  user: SignedInUser,
  texts: SenderTexts,
  { id, flowActions, status, mimeType }: DocumentView,
): Html {
  const { signing } = page.words;
  const isXml = /xml/i.test(mimeType);
  const items = flowActions.map((action) => {
    const remind = html`<button type="submit">${texts.page.remind}</button>`;
    const canChange = status === 'Pending';
    const canRemind = status === 'Pending' && action.status === 'Pending';
    return html`<li data-status="${action.status}"><span class="who"><bdi>${nameOf(action, signing.unnamed)}</bdi></span>
<span class="what">${filled(texts.page.step, { step: String(action.step) })}: ${signing.doings[action.type][action.status]}</span>
${groupMembers(texts, action)}
${canChange && action.status !== 'Completed' ? html`<p class="ways">${personChanges(texts, action, isXml)}</p>` : ''}
${canRemind ? form(page, user, `/account/documents/${id}/participants/${action.id}/remind`, remind) : ''}</li>`;
  });
  return html`<h2>${texts.page.participants}</h2>
<ol class="participants" role="list">
${lines(items)}
</ol>`;
}

/** Members of a group and what each did. */
function groupMembers(
  { page }: SenderTexts,
  { type, numberRequiredSignatures, signRuleUsers }: FlowActionView,
): Html {
  if (signRuleUsers.length === 0) return html``;
  const counts = { needed: String(numberRequiredSignatures), count: String(signRuleUsers.length) };
  const members = signRuleUsers.map(
    ({ name, email, identifier, signatureDate, hasRefused, refusalReason }) => {
      const acted = type === 'ApproverRule' ? page.memberApproved : page.memberSigned;
      const done = hasRefused ? page.memberRefused : signatureDate === null ? undefined : acted;
      const reason = refusalReason === null ? '' : html` (<bdi>${refusalReason}</bdi>)`;
      return html`<li><bdi>${name ?? email ?? identifier ?? ''}</bdi>${done === undefined ? '' : html`: ${done}`}${reason}</li>`;
    },
  );
  return html`<span class="what">${filled(page.membersNeeded, counts)}</span>
<ul class="group-members" role="list">
${lines(members)}
</ul>`;
}

function nameOf({ user, ruleName }: FlowActionView, unnamed: string): string {
  return ruleName ?? user?.name ?? user?.email ?? unnamed;
}

function downloads({ page }: SenderTexts, { id, hasSignature }: DocumentView): Html {
  const offered: readonly (readonly [DownloadType, string])[] = [
    ['Original', page.original],
    ...(hasSignature
      ? ([
          ['Signatures', page.signed],
          ['SignaturesManifest', page.manifest],
        ] as const)
      : []),
  ];
  const links = offered.map(
    ([type, label]) =>
      html`<a class="button" href="/api/documents/${id}/content?type=${type}" download>${label}</a>`,
  );
  return html`<h2>${page.downloads}</h2>
<p class="ways">${lines(links)}</p>`;
}

function cancellation(page: AccountPage, user: SignedInUser, texts: SenderTexts, { id }: DocumentView): Html {
  const content = html`<label>${texts.page.cancelReason} <input name="reason" maxlength="500" required></label>
<button type="submit" class="bad">${texts.page.cancel}</button>`;
  return html`<details><summary>${texts.page.cancel}</summary>
${form(page, user, `/account/documents/${id}/cancel`, content)}
</details>`;
}

function newVersion({ page }: SenderTexts): Html {
  return html`<details id="new-version"><summary>${page.newVersion}</summary>
<p class="hint">${page.newVersionHint}</p>
<label>${page.file} <input type="file" id="version-file"></label>
<p><button type="button" id="replace">${page.replace}</button></p>
<div id="outcome" class="outcome" role="status" aria-live="polite" tabindex="-1"></div>
</details>`;
}

function asTemplate(page: AccountPage, user: SignedInUser, texts: SenderTexts, document: DocumentView): Html {
  const { templates } = texts;
  if (document.isDeleted) return html``;
  const content = html`<label>${templates.name} <input name="name" maxlength="200" value="${document.name}" required></label>
<button type="submit">${templates.save}</button>`;
  return html`<details><summary>${templates.save}</summary>
<p class="hint">${templates.saveHint}</p>
${form(page, user, `/account/documents/${document.id}/template`, content)}
</details>`;
}

/** Mails about the document; those that wait or failed can be sent now. */
function mailsPart(page: AccountPage, user: SignedInUser, texts: SenderTexts, shown: SenderDocument): Html {
  const { document, mails } = shown;
  if (mails.length === 0) return html``;
  const kinds: { readonly [about: string]: string } = page.texts.branding.kinds;
  const items = mails.map(({ id, about, to, status, creationDate, lastError }) => {
    const canSend = status === 'Failed' || status === 'Waiting';
    const label = filled(texts.page.mailResend, { to });
    const resend = canSend
      ? form(
          page,
          user,
          `/account/documents/${document.id}/mails/${id}/resend`,
          html`<button type="submit">${label}</button>`,
        )
      : '';
    const error = lastError === null ? '' : html` <span class="hint" lang="en">${lastError.message}</span>`;
    return html`<li data-status="${status}"><span><bdi>${to}</bdi>: ${kinds[about] ?? about}, ${timeOf(page.words.language, creationDate)}, ${texts.page.mailStates[status]}${error}</span>
${resend}</li>`;
  });
  return html`<section><h2>${texts.page.mails}</h2>
<ul class="rows" role="list">
${lines(items)}
</ul></section>`;
}

const MAIL_ENTRIES: ReadonlySet<string> = new Set(['Mailed', 'MailDelivered', 'MailRefused', 'CodeSent']);

function historyPart(page: AccountPage, texts: SenderTexts, { history, older }: SenderDocument): Html {
  const { language } = page.words;
  const items = history.map(({ date, type, message, by, userId }) => {
    // The sentences of the journal are in English.
    const text = language === 'en' ? message : texts.page.historyTypes[type];
    const nobody = userId === null ? texts.page.historyService : page.words.signing.unnamed;
    // The receiver of a mail did nothing; the English sentence names it.
    const receiver = language === 'en' || by === null ? '' : filled(texts.page.historyReceiver, { name: by });
    const who = MAIL_ENTRIES.has(type) ? receiver : (by ?? nobody);
    const hint = who === '' ? '' : html` <span class="hint"><bdi>${who}</bdi></span>`;
    return html`<li>${timeOf(language, date)} ${text}${hint}</li>`;
  });
  return html`<h2>${texts.page.history}</h2>
<ol class="history" role="list">
${lines(items)}
</ol>
${older === undefined ? '' : html`<p><a class="button" href="${addressFrom(page, older)}">${texts.page.moreHistory}</a></p>`}`;
}
