/** Starts the signing page: displays the document, and enables the forms. */

import type { SigningData } from '../../../pages/portal/page-data.ts';
import { findElement, reloadWhenRestored, requireElement, sessionDraft } from '../../dom.ts';
import { startCertificate } from '../certificate.ts';
import { showDocument, startViewRecord } from '../document-view.ts';
import { startElectronic } from '../electronic.ts';
import { startDock } from '../guide.ts';
import type { PageSize } from '../initials.ts';
import { startMenu } from '../menu.ts';
import { showFinished, showMissing, withStatus } from '../outcome.ts';
import { pageData } from '../page-data.ts';
import { notifyParent, reportHeight, sendEvent } from '../parent-window.ts';
import { pageSizesOf } from '../pdf-library.ts';
import { post } from '../requests.ts';
import { showReturnLink } from '../return-link.ts';

const data = pageData<SigningData>();
const { words } = data;

document.addEventListener('pages-seen', () => {
  sendEvent({ type: 'viewed', id: data.documentId }, data.embedOrigins);
});
startMenu();
reloadWhenRestored();
if (findElement('#guide') !== undefined) startDock();
const showing =
  findElement('#document') === undefined
    ? undefined
    : showDocument(data).catch(() => {
        sendEvent({ type: 'error', id: data.documentId, code: 'DocumentUnreadable' }, data.embedOrigins);
        return undefined;
      });

startViewRecord(data, showing);

/** Also resolves with a hidden preview; empty for files without pages. */
async function pageSizes(): Promise<readonly PageSize[]> {
  const shown = await showing;
  if (shown !== undefined) return shown.pageSizes();
  if (data.mimeType !== 'application/pdf') return [];
  return pageSizesOf(data.content);
}

/** Shows the result of an action and reports it to the parent window. */
function done(text: string, type: 'documentSigned' | 'documentApproved' | 'documentRefused'): void {
  for (const name of drafts) sessionDraft.write(name, undefined);
  showFinished(text);
  const { documentId: id, embedOrigins } = data;
  notifyParent({ type, id }, embedOrigins);
  sendEvent({ type: type === 'documentRefused' ? 'refused' : 'signed', id }, embedOrigins);
  void showReturnLink(data).then(async (isOver) => {
    if (!isOver) return;
    sendEvent({ type: 'closed', id }, embedOrigins);
    if (data.redirectUrl !== null && type !== 'documentRefused') return location.assign(data.redirectUrl);
    if (type === 'documentSigned') await (await showing)?.refresh();
  });
}

function signed(text: string): void {
  done(text, 'documentSigned');
}

/** Enables the form. */
function switchOn(form: HTMLElement | undefined): void {
  for (const button of form?.querySelectorAll('button') ?? []) button.disabled = false;
}

/** Keeps what is typed into a field over a reload and a change of the language. */
function keepTyped(field: Element | undefined): void {
  const isTick = field instanceof HTMLInputElement && field.type === 'checkbox';
  const isText =
    field instanceof HTMLInputElement ||
    field instanceof HTMLTextAreaElement ||
    field instanceof HTMLSelectElement;
  // A script cannot choose a file again.
  if (!isText || field.type === 'file') return;
  const name = `${field.id} ${data.ticket}`;
  const draft = sessionDraft.read(name);
  if (draft !== undefined && isTick) field.checked = draft === 'true';
  else if (draft !== undefined) field.value = draft;
  field.addEventListener('input', () =>
    sessionDraft.write(name, isTick ? String(field.checked) : field.value),
  );
  drafts.push(name);
}
const drafts: string[] = [];
keepTyped(findElement('#typed-name'));
keepTyped(findElement('#reason'));
for (const field of document.querySelectorAll('#document-fields :is(input, select, textarea)'))
  keepTyped(field);

const approval = findElement('#approval');
approval?.addEventListener('submit', (event) => {
  event.preventDefault();
  void withStatus(approval, data, async () => {
    await post(data, 'approval', { disableNotifications: data.disableNotifications });
    done(words.approved, 'documentApproved');
  });
});
switchOn(approval);

const refusal = findElement('#refusal');
refusal?.addEventListener('submit', (event) => {
  event.preventDefault();
  const field = requireElement('#reason', HTMLTextAreaElement);
  const reason = field.value.trim();
  if (reason === '') return showMissing(field, words.reasonNeeded);
  void withStatus(refusal, data, async () => {
    await post(data, 'participant-refusal', { reason });
    done(words.refused, 'documentRefused');
  });
});
switchOn(refusal);

const electronic = findElement('#electronic');
const certificate = findElement('#certificate');
for (const choice of document.querySelectorAll<HTMLInputElement>('input[name="how"]')) {
  choice.addEventListener('change', () => {
    if (electronic !== undefined) electronic.hidden = choice.value !== 'electronic';
    if (certificate !== undefined) certificate.hidden = choice.value !== 'certificate';
  });
}
if (electronic !== undefined) {
  startElectronic(electronic, data, pageSizes, () => signed(words.signed));
  switchOn(electronic);
}
if (certificate !== undefined) {
  startCertificate(certificate, data, pageSizes, signed);
  switchOn(certificate);
}
findElement('#part-missing')?.remove();
sendEvent({ type: 'ready', id: data.documentId }, data.embedOrigins);
reportHeight(data.embedOrigins);
