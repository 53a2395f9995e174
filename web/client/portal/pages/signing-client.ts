/** Starts the signing page: displays the document, and enables the forms. */
import type { SigningData, StateData } from '../../../pages/portal/page-data.ts';
import {
  below,
  delay,
  findElement,
  parseHtml,
  reloadWhenRestored,
  requireElement,
  sessionDraft,
} from '../../dom.ts';
import { startCertificate } from '../certificate.ts';
import { showDocument, startViewRecord } from '../document-view.ts';
import { startElectronic } from '../electronic.ts';
import type { PageSize } from '../initials.ts';
import { controlOf, filledFields, showFinished, showMissing, showStatus, withStatus } from '../outcome.ts';
import { pageData } from '../page-data.ts';
import { notifyParent, reportHeight, sendEvent } from '../parent-window.ts';
import { pageSizesOf } from '../pdf-library.ts';
import { pageDrawn, readingMember, startReading } from '../reading.ts';
import { post, unanswered } from '../requests.ts';
import { startState } from '../state.ts';

/** Usual maximum time for adding a signature to a long document. */
const MAX_POLLS = 20;
/** Interval between attempts, milliseconds. */
const POLL_INTERVAL_MS = 1_500;

/** The page as the server renders it now; undefined when it cannot be read. */
async function currentPage(): Promise<Document | undefined> {
  try {
    const answer = await fetch(below(data.self), { credentials: 'omit' });
    return answer.ok ? parseHtml(await answer.text()) : undefined;
  } catch {
    return undefined;
  }
}

function stateOf(now: ParentNode): string | undefined {
  return findElement('main[data-state]', HTMLElement, now)?.dataset['state'];
}

/** Puts other content in the place of the page; its heading gets the focus. */
function replaceMain(main: Element | null | undefined): void {
  if (!(main instanceof HTMLElement)) return;
  dialog.close();
  document.querySelector('.top')?.remove();
  document.querySelector('.skip')?.remove();
  requireElement('#main').replaceWith(main);
  const title = requireElement('h1');
  title.tabIndex = -1;
  title.focus();
  window.scrollTo(0, 0);
}

/**
 * Shows the page as it is once the action is in the document. On errors the page stays unchanged. Resolves with true when
 * nothing is left to do.
 */
async function showDone(): Promise<boolean> {
  for (let look = 1; look <= MAX_POLLS; look += 1) {
    const now = await currentPage();
    const state = now && stateOf(now);
    if (now === undefined || state === undefined) return false;
    if (state !== 'processing') {
      const outcome = requireElement('#outcome');
      document.title = now.title;
      document.body.className = now.body.className;
      replaceMain(now.querySelector('main'));
      requireElement('h1').after(outcome);
      // The title says it already.
      outcome.classList.toggle('unseen', [words.signed, words.approved].includes(outcome.textContent ?? ''));
      outcome.focus();
      const given = now.querySelector('#page-data')?.textContent;
      startState(given ? (JSON.parse(given) as StateData) : {});
      return true;
    }
    await new Promise<void>((resolve) => delay(POLL_INTERVAL_MS, resolve));
  }
  return false;
}

function isBusy(): boolean {
  return findElement('form[aria-busy]') !== undefined;
}

/** Says how the visit has ended elsewhere: by another window, the sender, or time. Nothing while it has not. */
async function showEnd(): Promise<void> {
  const now = await currentPage();
  // An action that began meanwhile has its own end.
  if (now === undefined || isDone || isBusy()) return;
  const state = stateOf(now);
  const notice = (id: string) => {
    isDone = true;
    replaceMain(requireElement(`#${id}`, HTMLTemplateElement).content.firstElementChild);
  };
  if (state === undefined) {
    const { documentVersion } = JSON.parse(
      now.querySelector('#page-data')?.textContent ?? '{}',
    ) as SigningData;
    if (documentVersion !== data.documentVersion) notice('newer-version');
  } else if (state === 'done' || state === 'concluded' || state === 'processing') {
    // The answer of an attempt was lost. Where others of a rule were enough, the attempt itself was.
    const isOwn = state === 'processing' || findElement('main[data-acted]', HTMLElement, now) !== undefined;
    const isLost = (...names: readonly string[]) => isOwn && names.some((name) => unanswered.has(name));
    if (isLost('approval')) done(words.approved, 'documentApproved');
    else if (isLost('electronic-signature', 'signature')) signed(words.signed);
    else notice('signed-already');
  } else location.reload();
}

/** The menu of the signing page's bar: what is needed seldom. */
function startMenu(): void {
  const menu = findElement('#more', HTMLDetailsElement);
  const pages = findElement('#thumbnails');
  if (menu === undefined) return;
  const close = () => {
    menu.open = false;
    pages?.removeAttribute('data-open');
  };
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !menu.contains(target) && pages?.contains(target) !== true) close();
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || (!menu.open && pages?.hasAttribute('data-open') !== true)) return;
    close();
    menu.querySelector('summary')?.focus();
  });
  findElement('#thumbnails-open')?.addEventListener('click', () => {
    pages?.toggleAttribute('data-open');
    menu.open = false;
  });
  findElement('#refuse-link')?.addEventListener('click', () => {
    close();
    const refusing = findElement('#refusing', HTMLDetailsElement);
    if (refusing !== undefined) refusing.open = true;
  });
}

const data = pageData<SigningData>();
const { words } = data;
/** True when the participant has acted, or the visit has ended elsewhere. */
let isDone = false;

document.addEventListener('pages-seen', () => {
  sendEvent({ type: 'viewed', id: data.documentId }, data.embedOrigins);
});
startMenu();
reloadWhenRestored();
const showing =
  findElement('#document') === undefined
    ? undefined
    : showDocument(data, () => openDialog()).catch(() => {
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
  dialog.close();
  isDone = true;
  showFinished(text);
  const { documentId: id, embedOrigins } = data;
  notifyParent({ type, id }, embedOrigins);
  sendEvent({ type: type === 'documentRefused' ? 'refused' : 'signed', id }, embedOrigins);
  void showDone().then((isOver) => {
    if (!isOver) return;
    sendEvent({ type: 'closed', id }, embedOrigins);
    if (data.redirectUrl === null || type === 'documentRefused') return;
    // The last document of a visit leads to the organization.
    if (findElement('.visit > li:not([data-done])') === undefined) location.assign(data.redirectUrl);
  });
}

function signed(text: string): void {
  done(text, 'documentSigned');
}

/** Enables the form. */
function switchOn(form: HTMLElement | undefined): void {
  for (const button of form?.querySelectorAll('button') ?? []) button.disabled = false;
}

/** Keeps what is typed into a field over a reload, a change of the language, and a new version with other fields. */
function keepTyped(field: Element | undefined, kept = field?.id): void {
  const isTick = field instanceof HTMLInputElement && field.type === 'checkbox';
  const isText =
    field instanceof HTMLInputElement ||
    field instanceof HTMLTextAreaElement ||
    field instanceof HTMLSelectElement;
  // A script cannot choose a file again.
  if (!isText || field.type === 'file') return;
  const name = `${kept} ${data.ticket}`;
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
for (const [index, { name }] of data.fields.entries()) keepTyped(controlOf(index), `field ${name}`);

const approval = findElement('#approval');
approval?.addEventListener('submit', (event) => {
  event.preventDefault();
  void withStatus(approval, data, async () => {
    await post(data, 'approval', { disableNotifications: data.disableNotifications, ...readingMember() });
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
/** Called when the form of a typed name is shown. */
let begin = () => {};
if (electronic !== undefined) {
  begin = startElectronic(electronic, data, pageSizes, () => signed(words.signed));
  switchOn(electronic);
}
if (certificate !== undefined) {
  startCertificate(certificate, data, pageSizes, signed);
  switchOn(certificate);
}
for (const other of ['#with-certificate', '#with-name'])
  findElement(other)?.addEventListener('click', () => {
    if (electronic === undefined || certificate === undefined) return;
    electronic.hidden = !electronic.hidden;
    certificate.hidden = !electronic.hidden;
    showStatus('');
    requireElement(electronic.hidden ? '#certificate-file' : '#typed-name').focus();
  });

function showDialog(): void {
  dialog.showModal();
  // Not on a button: a key that is held down would press it.
  requireElement('#signing-title').focus();
}

/** Opens the dialog, once what is to be filled in on the pages is right. */
function openDialog(): void {
  if (filledFields(data) === null) return;
  showStatus('');
  showDialog();
  if (electronic?.hidden === false) begin();
}
const dialog = requireElement('#signing', HTMLDialogElement);
requireElement('#signing-title').tabIndex = -1;
requireElement('#signing-close').addEventListener('click', () => {
  if (!isBusy()) dialog.close();
});
dialog.addEventListener('cancel', (event) => {
  if (isBusy()) event.preventDefault();
});
dialog.addEventListener('close', () => {
  // Browsers close it at a second Escape all the same; what has become of the action is said in it.
  if (isBusy()) return showDialog();
  // Messages about the page are not in a closed dialog. Where the visit is over, there is none.
  const outcome = findElement('#outcome');
  if (outcome !== undefined && dialog.contains(outcome)) showStatus('', 'plain', requireElement('#acting'));
});
document.addEventListener('drawn', pageDrawn, { once: true });
startReading();
const next = requireElement('#guide-next', HTMLButtonElement);
next.addEventListener('click', () => {
  if (!requireElement('#guide').hasAttribute('data-guided')) openDialog();
});
next.disabled = false;
document.addEventListener('visit-over', () => void showEnd());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && !isDone && !isBusy()) void showEnd();
});
findElement('#part-missing')?.remove();
sendEvent({ type: 'ready', id: data.documentId }, data.embedOrigins);
reportHeight(data.embedOrigins);
