/** `/mails`: the e-mails of the portal, the development mailbox. The address contains filters and page. */

import type { MailList } from '../../../../clients/typescript/batch.d.ts';
import { createElement, delay, requireElement } from '../../dom.ts';
import { getShared, post, runAction } from '../api.ts';
import { startPage } from '../live-page.ts';
import { firstPage, keepInAddress, showList, startPages } from '../paged-list.ts';
import { chip, row, timeElement } from '../state-labels.ts';

/** Shown beside an e-mail whose retention has ended (`Portal:MailFolderKeepDays`). */
const REMOVED = ' (text no longer kept)';

/** States of e-mails that can be sent again. */
const UNSENT: ReadonlySet<string> = new Set(['Waiting', 'Failed']);

const WORDS = { one: 'e-mail', many: 'e-mails', columns: 7 };

/** Pause of typing after which the search starts, milliseconds. */
const TYPING_PAUSE_MS = 250;

const search = () => requireElement('#filters input', HTMLInputElement);
const status = () => requireElement('#filters select', HTMLSelectElement);

let refreshPage = () => {};

/** Fills the form from the address, and refreshes on changes. */
function startMailList(refresh: () => void): void {
  refreshPage = refresh;
  const given = new URLSearchParams(location.search);
  status().value = given.get('status') ?? '';
  search().value = given.get('search') ?? '';
  let cancel = () => {};
  search().addEventListener('input', () => {
    cancel();
    cancel = delay(TYPING_PAUSE_MS, () => {
      firstPage();
      refresh();
    });
  });
  requireElement('#filters').addEventListener('submit', (event) => event.preventDefault());
  status().addEventListener('change', () => {
    firstPage();
    refresh();
  });
  startPages(given, refresh);
}

async function refreshMailList(): Promise<void> {
  const query = new URLSearchParams();
  if (search().value.trim() !== '') query.set('search', search().value.trim());
  if (status().value !== '') query.set('status', status().value);
  keepInAddress(query);
  showList(await getShared<MailList>(`/api/mails?${query}`), WORDS, mailRow);
}

function mailRow({
  id,
  to,
  about,
  subject,
  status,
  tries,
  lastError,
  createdAt,
  ...mail
}: MailList['items'][number]): HTMLElement {
  const title = subject ?? about;
  const link = (view: 'html' | 'text', text: string, label?: string) => {
    const href = `/api/mails/${encodeURIComponent(id)}/${view}`;
    return createElement('a', { href, id: `${view}-${id}`, 'aria-label': label }, text);
  };
  const shown = mail.hasText
    ? [link('html', title), ' ', link('text', 'as text', `As text: ${title}`)]
    : [title, mail.textRemoved ? REMOVED : ''];
  return row(
    shown,
    to,
    chip(status),
    String(tries),
    lastError === null ? '' : `${lastError.code}: ${lastError.message}`,
    timeElement(createdAt),
    UNSENT.has(status) ? resendButton(id, to) : [],
  );
}

function resendButton(id: string, to: string): HTMLElement {
  const label = `Send again to ${to}`;
  const button = createElement(
    'button',
    { type: 'button', id: `resend-${id}`, 'aria-label': label },
    'Send again',
  );
  button.addEventListener('click', async () => {
    await runAction(
      button,
      () => post(`/api/mails/${encodeURIComponent(id)}/resend`),
      () => 'It is sent again.',
    );
    refreshPage();
  });
  return button;
}

startPage(refreshMailList, startMailList);
