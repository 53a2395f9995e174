/** Starts the signing page: displays the document, and enables the forms. */
import type { SigningData } from '../../../pages/portal/page-data.ts';
import { findElement, reloadWhenRestored, requireElement } from '../../dom.ts';
import { startMenu } from '../bar-menu.ts';
import { startCertificate, startProviders } from '../certificate.ts';
import { showDocument, startViewRecord } from '../document-view.ts';
import { startElectronic } from '../electronic.ts';
import type { PageSize } from '../initials.ts';
import { filledFields, showMissing, showStatus, withStatus } from '../outcome.ts';
import { pageData } from '../page-data.ts';
import { reportHeight, sendEvent } from '../parent-window.ts';
import { pageSizesOf } from '../pdf-library.ts';
import { pageDrawn, readingMember, startReading } from '../reading.ts';
import { post } from '../requests.ts';
import { isBusy, keepTyped, startDialog, startForm } from '../signing-dialog.ts';
import { SigningVisit } from '../signing-visit.ts';
import { showTimes } from '../state.ts';

const data = pageData<SigningData>();
const { words, documentId, embedOrigins } = data;

document.addEventListener('pages-seen', () => sendEvent({ type: 'viewed', id: documentId }, embedOrigins));
showTimes();
startMenu();
reloadWhenRestored();
const showing =
  findElement('#document') === undefined
    ? undefined
    : showDocument(data, () => openDialog()).catch(() => {
        sendEvent({ type: 'error', id: documentId, code: 'DocumentUnreadable' }, embedOrigins);
        return undefined;
      });
startViewRecord(data, showing);

/** Also resolves with a hidden preview; empty for files without pages. */
async function pageSizes(): Promise<readonly PageSize[]> {
  const shown = await showing;
  if (shown !== undefined) return shown.pageSizes();
  return data.mimeType === 'application/pdf' ? pageSizesOf(data.content) : [];
}

const dialog = startDialog();
// Before a device of others nothing is kept in the browser.
const forget = data.here === null ? keepTyped(data) : () => {};
const visit = new SigningVisit(data, { isBusy, close: dialog.close, forget });

startForm('approval', (form) => {
  void withStatus(form, data, async () => {
    await post(data, 'approval', { disableNotifications: data.disableNotifications, ...readingMember() });
    visit.done(words.approved, 'documentApproved');
  });
});
startForm('refusal', (form) => {
  const field = requireElement('#reason', HTMLTextAreaElement);
  const reason = field.value.trim();
  if (reason === '') return showMissing(field, words.reasonNeeded);
  void withStatus(form, data, async () => {
    await post(data, 'participant-refusal', { reason });
    visit.done(words.refused, 'documentRefused');
  });
});
const electronic = startForm('electronic');
const certificate = startForm('certificate');
/** Called when the form of a typed name is shown. */
const begin = electronic && startElectronic(electronic, data, pageSizes, () => visit.signed());
if (certificate !== undefined) startCertificate(certificate, data, pageSizes, (text) => visit.signed(text));
if (startForm('providers') !== undefined) startProviders(data, pageSizes);
for (const other of document.querySelectorAll('#with-certificate, #with-name'))
  other.addEventListener('click', () => {
    if (electronic === undefined || certificate === undefined) return;
    electronic.hidden = !electronic.hidden;
    certificate.hidden = !electronic.hidden;
    showStatus('');
    requireElement(electronic.hidden ? '#certificate-file' : '#typed-name').focus();
  });

/** Opens the dialog, once what is to be filled in on the pages is right. */
function openDialog(): void {
  if (filledFields(data) === null) return;
  showStatus('');
  dialog.open();
  if (electronic?.hidden === false) begin?.();
}

document.addEventListener('drawn', pageDrawn, { once: true });
startReading();
const next = requireElement('#guide-next', HTMLButtonElement);
next.addEventListener('click', () => {
  if (!requireElement('#guide').hasAttribute('data-guided')) openDialog();
});
next.disabled = false;
visit.watch();
findElement('#part-missing')?.remove();
sendEvent({ type: 'ready', id: documentId }, embedOrigins);
reportHeight(embedOrigins);
