/** Starts the editor of a document: files, people, fields on the pages, message. The server sends the forms. */
import { filled } from '../../../pages/portal/texts.ts';
import './early-pdf.ts';
import { below, findElement, focusElement, randomKey, requireElement } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { faultOf } from '../sender/editor-faults.ts';
import { startFiles } from '../sender/editor-files.ts';
import { type CreationRequest, emptyModel, fromRequest, toRequest } from '../sender/editor-model.ts';
import { startPeople } from '../sender/editor-people.ts';
import { startPlaces } from '../sender/editor-places.ts';
import { call, type EditorData, tellPage } from '../sender/sender-requests.ts';

const data = pageData<EditorData>();
const { words } = data;
const known = data.draft ?? data.template;
const model = known === null ? emptyModel() : fromRequest(known.document);
let draftId = data.draft?.id;
/**
 * Idempotency keys by content: the repetition of a request whose answer was lost makes no second document, and an edited
 * request is another one.
 */
const idempotencyKeys = new Map<string, string>();
const outcome = requireElement('#outcome');
const locations = new Map(Object.entries(data.locations));

const places = startPlaces(model, words, locations);
const changed = () => {
  places.refresh();
  warnOnLeaving();
};
const people = startPeople(model, words, changed);
startFiles(model, data, locations, changed);
const message = requireElement('#message', HTMLTextAreaElement);
/** Not on the page of a template, whose documents expire some days after they are made. */
const expires = findElement('#expires', HTMLInputElement);
const reminders = requireElement('#reminder-days', HTMLInputElement);
message.value = model.message;
if (expires !== undefined) expires.value = model.expires;
reminders.value = model.reminderDays > 0 ? String(model.reminderDays) : '';

/** Content of the document as it was loaded or last saved. */
let saved = JSON.stringify(request());

/** Asks before unsaved entries are lost. */
function confirmLeaving(event: BeforeUnloadEvent): void {
  if (JSON.stringify(request()) !== saved) event.preventDefault();
}

/** Call it when the document may have changed. Pages that always listen are not kept for the back button. */
function warnOnLeaving(): void {
  window.addEventListener('beforeunload', confirmLeaving);
}

function stopWarning(): void {
  window.removeEventListener('beforeunload', confirmLeaving);
}

function say(text: string, kind: 'good' | 'bad' | 'busy'): void {
  outcome.className = `outcome ${kind}`;
  outcome.textContent = text;
  if (kind === 'bad') outcome.focus();
}

function keyOf(body: CreationRequest): string {
  const content = JSON.stringify(body);
  const key = idempotencyKeys.get(content) ?? randomKey();
  idempotencyKeys.set(content, key);
  return key;
}

function request(): CreationRequest {
  people.read();
  model.message = message.value;
  if (expires !== undefined) model.expires = expires.value;
  model.reminderDays = Number(reminders.value) || 0;
  return toRequest(model);
}

/** False: something is missing, which the page says and marks. */
function isComplete(isTemplate: boolean): boolean {
  const found = faultOf(model, isTemplate);
  people.markMissing(found?.person);
  if (found === undefined) return true;
  const { fault, person } = found;
  const who = person === undefined ? '' : filled(words.person, { number: model.people.indexOf(person) + 1 });
  say([who, words[fault]].filter(Boolean).join(': '), 'bad');
  return false;
}

/** Runs one action at a time and shows its failure. */
async function run(action: () => Promise<void>): Promise<void> {
  const buttons = document.querySelectorAll<HTMLButtonElement>('#finish button, #template button');
  const before = document.activeElement;
  for (const button of buttons) button.disabled = true;
  say(words.sending, 'busy');
  try {
    await action();
  } catch (error) {
    say(error instanceof Error ? error.message : words.failed, 'bad');
    tellPage('failed', error);
  } finally {
    for (const button of buttons) button.disabled = false;
    // A disabled button loses the focus.
    if (document.activeElement === document.body) focusElement(before);
  }
}

/** Content of the draft whose sending has begun. A repeated call does not save it again: a sent draft cannot be saved. */
let sending = '';

async function saveDraft(): Promise<void> {
  sending = '';
  const document = request();
  const name = document.files?.[0]?.displayName ?? words.person.replace('{number}', '');
  const body = { name: name.slice(0, 200), document };
  if (draftId === undefined) {
    draftId = (await call<{ readonly id: string }>(data, 'POST', '/api/document-drafts', body)).id;
    history.replaceState(null, '', below(`/account/documents/drafts/${encodeURIComponent(draftId)}`));
  } else {
    await call(data, 'PUT', pathOf(draftId), body);
  }
  saved = JSON.stringify(document);
  // The person may have gone on editing meanwhile.
  if (JSON.stringify(request()) === saved) stopWarning();
  tellPage('saved', draftId);
}

function pathOf(draft: string): string {
  return data.draftPath ?? `/api/document-drafts/${encodeURIComponent(draft)}`;
}

async function send(): Promise<void> {
  const body = request();
  if (!isComplete(false)) return;
  let made: readonly { readonly documentId: string }[];
  if (draftId === undefined) {
    made = await call(data, 'POST', '/api/documents', body, keyOf(body));
  } else {
    const content = JSON.stringify(body);
    if (content !== sending) await saveDraft();
    sending = content;
    made = await call(data, 'POST', `${pathOf(draftId)}/send`, {});
  }
  stopWarning();
  // The page of a session in another application has no list of documents to lead to.
  if (!tellPage('sent', made)) return;
  const [first] = made;
  const path = made.length === 1 && first ? `/${encodeURIComponent(first.documentId)}?done=sent` : '';
  location.assign(below(`/account/documents${path}`));
}

async function saveTemplate(): Promise<void> {
  const name = requireElement('#template-name', HTMLInputElement).value.trim();
  const days = Number(requireElement('#template-days', HTMLInputElement).value);
  const document = request();
  if (name === '') {
    say(words.noTemplateName, 'bad');
    return;
  }
  if (!isComplete(true)) return;
  const description = requireElement('#template-description', HTMLTextAreaElement).value.trim() || null;
  const body = { name, description, expirationDays: days > 0 ? days : null, document };
  let id = data.template?.id;
  if (id === undefined) id = (await call<{ readonly id: string }>(data, 'POST', '/api/templates', body)).id;
  else await call(data, 'PUT', `/api/templates/${encodeURIComponent(id)}`, body);
  stopWarning();
  location.assign(below(`/account/templates/${encodeURIComponent(id)}?done=saved`));
}

// A message about what was missing ends while the person types: not at the press of a button, which would move away.
requireElement('#editor').addEventListener('input', ({ target }) => {
  if (target instanceof Element) target.removeAttribute('aria-invalid');
  if (outcome.classList.contains('bad')) outcome.replaceChildren();
});
findElement('#send')?.addEventListener('click', () => void run(send));
findElement('#save-template')?.addEventListener('click', () => void run(saveTemplate));
findElement('#save-draft')?.addEventListener('click', () => {
  void run(async () => {
    await saveDraft();
    say(words.saved, 'good');
  });
});
for (const type of ['input', 'click', 'keydown', 'pointerdown', 'drop'])
  requireElement('#editor').addEventListener(type, warnOnLeaving);
findElement('#editor')?.setAttribute('data-ready', 'true');
