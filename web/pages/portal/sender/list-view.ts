/** The documents of the organization, with filters, and the drafts that are not sent. Works without scripts. */

import type { SignedInUser } from '../../../../actors/portal/api.ts';
import type { DocumentListItem } from '../../../../contracts/portal/documents.ts';
import type { DraftItem } from '../../../../contracts/portal/kept-requests/drafts.ts';
import type { DocumentStatus } from '../../../../contracts/portal/words.ts';
import { type Html, html, lines } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { type AccountPage, accountPage, addressFrom, form } from '../account-frame.ts';
import type { SenderTexts } from '../texts.ts';
import { timeText } from './times.ts';

/** Filters as they stand in the address; empty = none. */
export interface ListFilters {
  readonly q: string;
  readonly status: string;
  readonly from: string;
  readonly to: string;
}

export interface DocumentsPage {
  readonly filters: ListFilters;
  readonly items: readonly DocumentListItem[];
  readonly drafts: readonly DraftItem[];
  /** Address of older documents; undefined: there are none. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
}

const STATUSES: readonly DocumentStatus[] = ['Pending', 'Concluded', 'Refused', 'Canceled', 'Expired'];

export function documentsPage(page: AccountPage, user: SignedInUser, shown: DocumentsPage): string {
  const texts = TEXTS[page.words.language].senders;
  const { list } = texts;
  const main = html`<p class="ways"><a class="button main" href="${addressFrom(page, '/account/documents/new')}">${texts.newDocument}</a></p>
${filterForm(page, texts, shown.filters)}
${shown.items.length === 0 ? html`<p>${list.none}</p>` : table(page, texts, shown.items)}
<p class="ways">${shown.isFirst ? '' : html`<a class="button" href="${addressFrom(page, '/account/documents')}">${list.first}</a>`}
${shown.next === undefined ? '' : html`<a class="button" href="${addressFrom(page, shown.next)}">${list.next}</a>`}</p>
${draftList(page, user, texts, shown.drafts)}`;
  return accountPage(page, user, { title: texts.documents, main });
}

function filterForm({ culture }: AccountPage, { list, statuses }: SenderTexts, filters: ListFilters): Html {
  const options = STATUSES.map((status) => {
    const chosen = filters.status === status ? html` selected` : '';
    return html`<option value="${status}"${chosen}>${statuses[status]}</option>`;
  });
  const language = culture === undefined ? '' : html`<input type="hidden" name="culture" value="${culture}">`;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  // On narrow screens it shows and hides the form that follows, also without a script.
  return html`<details class="fold"${isFiltered ? html` open` : ''}><summary>${list.filters}</summary></details>
<form method="get" action="/account/documents" class="filters" role="search">
${language}
<label>${list.search} <input name="q" type="search" maxlength="200" value="${filters.q}"></label>
<label>${list.status} <select name="status"><option value="">${list.anyStatus}</option>${options}</select></label>
<label>${list.from} <input name="from" type="date" value="${filters.from}"></label>
<label>${list.to} <input name="to" type="date" value="${filters.to}"></label>
<button type="submit">${list.apply}</button>
</form>`;
}

function table(
  page: AccountPage,
  { documents, list, statuses }: SenderTexts,
  items: readonly DocumentListItem[],
): Html {
  const { language } = page.words;
  const rows = items.map(
    ({ id, name, status, creationDate, updateDate }) => html`<tr>
<td><a href="${addressFrom(page, `/account/documents/${id}`)}"><bdi>${name}</bdi></a></td>
<td><span class="status" data-status="${status}">${statuses[status]}</span></td>
<td>${timeText(language, creationDate)}</td>
<td>${timeText(language, updateDate)}</td>
</tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${documents}">
<table>
<thead><tr><th scope="col">${list.name}</th><th scope="col">${list.status}</th><th scope="col">${list.created}</th><th scope="col">${list.changed}</th></tr></thead>
<tbody>
${lines(rows)}
</tbody>
</table>
</div>`;
}

function draftList(
  page: AccountPage,
  user: SignedInUser,
  { list, editor }: SenderTexts,
  drafts: readonly DraftItem[],
): Html {
  const items = drafts.map(({ id, name, updateDate }) => {
    const remove = html`<button type="submit">${editor.script.removeFile.replace('{name}', name)}</button>`;
    return html`<li><a href="${addressFrom(page, `/account/documents/drafts/${id}`)}"><bdi>${name}</bdi></a>
<span class="hint">${timeText(page.words.language, updateDate)}</span>
${form(page, user, `/account/documents/drafts/${id}/remove`, remove)}</li>`;
  });
  return html`<h2>${list.draftsTitle}</h2>
${items.length === 0 ? html`<p>${list.noDrafts}</p>` : html`<ul class="rows" role="list">\n${lines(items)}\n</ul>`}`;
}
