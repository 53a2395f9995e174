/** `/account/documents/{id}`: live updates, a new version, and changes of people and folder in dialogs. */
import type { VNode } from 'preact';
import type { DocumentView } from '../../../../contracts/portal/documents.ts';
import type { FlowActionView } from '../../../../contracts/portal/flow.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { relativeTime } from '../../../components/time.tsx';
import type { SenderDocumentData } from '../../../pages/portal/sender/document-view.tsx';
import { FolderOptions } from '../../../pages/portal/sender/folder-options.tsx';
import { filled, textBy } from '../../../pages/portal/texts.ts';
import { askForm, type FieldFault, openDialog } from '../../dialogs.tsx';
import { below, currentTime, delay, findElement, requireElement, setText } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { drawnPage, openPdf } from '../pdf-library.ts';
import { keepLive } from '../sender/live.ts';
import { startNewVersion } from '../sender/new-version.ts';
import { note } from '../sender/notes.ts';
import { CallFailed, call, proven, tokenOf } from '../sender/sender-requests.ts';

let data = pageData<SenderDocumentData>();
const { changes, documentId } = data;
const path = `/api/documents/${encodeURIComponent(documentId)}`;
const EMAIL = /^[^@\s]+@[^@\s]+$/;

/** The person whose button was pressed. */
interface Who {
  readonly action: string;
  /** Of a member of a group; empty for others. */
  readonly member: string;
  readonly name: string;
  readonly email: string;
}

const DOINGS: { readonly [name: string]: (who: Who) => Promise<unknown> } = {
  address: (who) =>
    change(
      changes.address,
      who,
      [{ name: 'email', label: changes.email, value: who.email }],
      ({ email = '' }) => ({
        editedFlowActions: [
          {
            flowActionId: who.action,
            ...(who.member === ''
              ? { participantEmailAddress: email }
              : { signRuleUsers: [{ userId: who.member, emailAddress: email }] }),
          },
        ],
      }),
    ),
  async replace(who) {
    let action: FlowActionView | undefined;
    try {
      const { flowActions } = await call<DocumentView>(data, 'GET', path);
      action = flowActions.find(({ id }) => id === who.action);
      if (action === undefined) throw new CallFailed(data.words.failed, 'FlowActionNotFound');
    } catch (error) {
      return note(messageOf(error), 'bad');
    }
    const request = requestOf(action);
    const { user } = action;
    // What was known of the person before is asked for of the next.
    const asked = (['name', 'email', 'identifier', 'phone'] as const).filter(
      (part) => part === 'name' || part === 'email' || Boolean(user?.[part]),
    );
    return change(
      changes.replace,
      who,
      asked.map((name) => ({ name, label: changes[name], value: '' })),
      (next) => ({ deletedFlowActionIds: [who.action], addedFlowActions: [{ ...request, user: next }] }),
    );
  },
  async link({ action, email }) {
    const address = `/account/documents/${documentId}/participants/${action}/link`;
    try {
      const { url } = await proven(data, async () => {
        const body = new URLSearchParams({ formToken: tokenOf(data), email });
        const answer = await fetch(below(address), { method: 'POST', body });
        const code = answer.status === 403 ? 'Forbidden' : 'InternalError';
        if (!answer.ok) throw new CallFailed(data.words.failed, code);
        return (await answer.json()) as { readonly url: string };
      });
      try {
        await navigator.clipboard.writeText(url);
        note(changes.linkCopied);
      } catch {
        showLink(url);
      }
    } catch (error) {
      note(messageOf(error), 'bad');
    }
  },
  move: () =>
    ask(
      changes.move,
      (fault) => (
        <>
          <label>
            {changes.folder}
            <select name="folderId">
              <option value="">{changes.noFolder}</option>
              <FolderOptions folders={data.folders} chosen={data.folderId} more={changes.otherFolders} />
            </select>
          </label>
          <Field
            id="newFolderName"
            name="newFolderName"
            label={changes.newFolder}
            maxLength={100}
            error={fault?.text}
          />
        </>
      ),
      async (entered) => {
        const name = textOf(entered, 'newFolderName');
        const folderId = textOf(entered, 'folderId') || null;
        await call(data, 'POST', `${path}/folder`, name === '' ? { folderId } : { newFolderName: name });
        return undefined;
      },
      'newFolderName',
    ),
};

/** Changes the flow with what a person enters; each field may not be empty. */
function change(
  title: string,
  who: Who,
  fields: readonly {
    readonly name: 'name' | 'email' | 'identifier' | 'phone';
    readonly label: string;
    readonly value: string;
  }[],
  request: (entered: { readonly [name: string]: string }) => object | Promise<object>,
): Promise<unknown> {
  return ask(
    filled(title, { name: who.name }),
    (fault) => (
      <>
        {fields.map(({ name, label, value }) => (
          <Field
            key={name}
            id={`change-${name}`}
            name={name}
            label={label}
            defaultValue={value}
            autoComplete="off"
            error={fault?.field === name ? fault.text : undefined}
          />
        ))}
      </>
    ),
    async (entered) => {
      const values = Object.fromEntries(fields.map(({ name }) => [name, textOf(entered, name)]));
      for (const { name } of fields) {
        const isGood = name === 'email' ? EMAIL.test(values[name] ?? '') : values[name] !== '';
        const text = name === 'email' ? changes.badEmail : name === 'name' ? changes.noName : changes.missing;
        if (!isGood) return { field: name, text };
      }
      await call(data, 'POST', `${path}/flow`, await request(values));
      return undefined;
    },
    'email',
  );
}

/** For browsers that let no script copy: over plain HTTP, or after a request. */
function showLink(url: string): void {
  const title = changes.buttons.link;
  openDialog(
    title,
    <form method="dialog" class="stack">
      <Field
        id="link"
        label={title}
        readOnly
        value={url}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <div class="ways">
        <Button type="submit">{changes.back}</Button>
      </div>
    </form>,
  );
}

/** @param place field that a refusal of the service is about */
async function ask(
  title: string,
  content: (fault: FieldFault | undefined) => VNode,
  submit: (entered: FormData) => Promise<FieldFault | undefined>,
  place: string,
): Promise<void> {
  const isDone = await askForm({
    title,
    content,
    confirm: changes.save,
    back: changes.back,
    async submit(entered) {
      try {
        return await submit(entered);
      } catch (error) {
        return { field: place, text: messageOf(error) };
      }
    },
  });
  if (isDone) note(changes.saved);
  if (isDone || isBehind) await refresh();
}

/** The action as a request that makes another of its kind. */
function requestOf(action: FlowActionView) {
  const { type, step, title, allowElectronicSignature, marks, signatureInitialsMode, fields } = action;
  return {
    type,
    step,
    title,
    allowElectronicSignature,
    signatureInitialsMode,
    disableEmailAuthenticationToSignElectronically: action.disableEmailAuthenticationToSignElectronically,
    requiredCertificateTypeToSign: action.requiredCertificateTypeToSign,
    requiredCertificateHolderTypeToSign: action.requiredCertificateHolderTypeToSign,
    requireCompanyCertificate: action.requireCompanyCertificate,
    requiredCompanyIdentifier: action.requiredCompanyIdentifier,
    prePositionedMarks: marks,
    fields: fields?.map(({ id: _, value: _value, presetValue, ...field }) => ({
      ...field,
      value: presetValue,
    })),
  };
}

function textOf(entered: FormData, name: string): string {
  return String(entered.get(name) ?? '').trim();
}

function messageOf(error: unknown): string {
  if (!(error instanceof CallFailed)) return data.words.failed;
  return textBy(error.code, data.words.refusals) ?? error.message;
}

const TIMES_AGAIN_MS = 60_000;

/** Times as distances from now; the time in the reader's zone is the tooltip. */
function showTimes(): void {
  const { lang } = document.documentElement;
  const exact = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'long' });
  for (const time of document.querySelectorAll<HTMLTimeElement>('#document time')) {
    const moment = Date.parse(time.dateTime);
    time.title = exact.format(moment);
    setText(time, relativeTime(moment - currentTime(), lang));
  }
}

function keepTimes(): void {
  showTimes();
  delay(TIMES_AGAIN_MS, keepTimes);
}

/** Width of the first page, CSS pixels. */
const PREVIEW_WIDTH = 180;
let drawn: { readonly version: string | undefined; readonly canvas: HTMLCanvasElement } | undefined;

let drawing: Promise<void> = Promise.resolve();

/** One after the other: all files of a page share the worker of pdf.js, which ends with the first that is destroyed. */
function showPreview(): void {
  drawing = drawing.then(drawPreview);
}

/** Draws the first page; a file that cannot be drawn leaves its place empty. */
async function drawPreview(): Promise<void> {
  const place = findElement('#first-page');
  const { preview } = data;
  if (place === undefined || preview === undefined) return;
  const { version } = place.dataset;
  if (drawn !== undefined) place.replaceChildren(drawn.canvas);
  if (drawn?.version === version) return;
  try {
    const { file } = await openPdf(preview);
    try {
      drawn = { version, canvas: await drawnPage(file, 1, PREVIEW_WIDTH) };
    } finally {
      // The page may stay open for hours.
      await file.destroy();
    }
  } catch {
    return;
  }
  findElement('#first-page')?.replaceChildren(drawn.canvas);
}

/** Buttons that need this script, and the form of a new version. */
function start(): void {
  showPreview();
  showTimes();
  for (const hidden of document.querySelectorAll<HTMLElement>('[data-do]')) hidden.hidden = false;
  const button = findElement('#replace', HTMLButtonElement);
  if (button !== undefined) startNewVersion(button, data);
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>('[data-do]') : null;
  if (button === null) return;
  const { action = '', member = '', name = '', email = '' } = button.dataset;
  void DOINGS[button.dataset['do'] ?? '']?.({ action, member, name, email });
});

/** The same button, link or summary of the new content, if it is still there. */
function focusAgain(element: Element): void {
  const named = [...element.attributes].filter(({ name }) => name.startsWith('data-'));
  const selectors = named.map(({ name, value }) => `[${name}="${CSS.escape(value)}"]`).join('');
  const alike = [...document.querySelectorAll<HTMLElement>(`#document ${element.localName}`)];
  const found =
    alike.find(({ outerHTML }) => outerHTML === element.outerHTML) ??
    (selectors === '' ? undefined : findElement(selectors));
  (found ?? requireElement('main')).focus({ preventScroll: true });
}

/** Content that is shown, as the service sent it. */
let known = requireElement('#document').innerHTML;
/** A change is not shown because a person is entering something. */
let isBehind = false;

const refresh = keepLive<SenderDocumentData>({
  stale: changes.stale,
  show(read, page) {
    data = read;
    const shown = requireElement('#document');
    const fresh = page.querySelector('#document');
    // What a person is entering stays.
    const isEntering =
      shown.querySelector('details[open]') !== null || document.querySelector('dialog') !== null;
    isBehind = isEntering;
    if (fresh === null || isEntering || fresh.innerHTML === known) return;
    known = fresh.innerHTML;
    const { activeElement } = document;
    shown.replaceWith(document.adoptNode(fresh));
    start();
    if (activeElement !== null && shown.contains(activeElement)) focusAgain(activeElement);
  },
});
const closed = ({ target }: Event): void => {
  if (isBehind && target instanceof HTMLDetailsElement && !target.open) void refresh();
};
document.addEventListener('toggle', closed, { capture: true });
start();
keepTimes();
requireElement('main').setAttribute('data-live', '');
