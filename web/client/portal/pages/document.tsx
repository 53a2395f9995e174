/** `/account/documents/{id}`: live updates, a new version, and changes of people and folder in dialogs. */
import type { VNode } from 'preact';
import type { Upload } from '../../../../clients/typescript/portal.d.ts';
import type { DocumentView } from '../../../../contracts/portal/documents.ts';
import type { FlowActionView } from '../../../../contracts/portal/flow.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { relativeTime } from '../../../components/time.tsx';
import {
  type Change,
  ChangeButton,
  NewVersion,
  type NewVersionProps,
  PersonMenu,
  type Who,
} from '../../../pages/portal/sender/changes.tsx';
import {
  DocumentPreview,
  type DrawnPage,
  type PreviewProps,
} from '../../../pages/portal/sender/document-preview.tsx';
import type { SenderDocumentData } from '../../../pages/portal/sender/document-view.tsx';
import { FolderFields } from '../../../pages/portal/sender/folder-options.tsx';
import { filled } from '../../../pages/portal/texts.ts';
import { askForm, type FieldFault, openDialog } from '../../dialogs.tsx';
import { below, currentTime, delay, findElement, requireElement, setText } from '../../dom.ts';
import { startDrops } from '../../drops.ts';
import { hydrateIslands, keepIsland } from '../../islands.tsx';
import { pageData } from '../page-data.ts';
import { drawnPage, openPdf } from '../pdf-library.ts';
import { keepLive } from '../sender/live.ts';
import { note } from '../sender/notes.ts';
import { CallFailed, call, failureText, proven, tokenOf, upload } from '../sender/sender-requests.ts';

let data = pageData<SenderDocumentData>();
const { changes, documentId } = data;
const path = `/api/documents/${encodeURIComponent(documentId)}`;
const EMAIL = /^[^@\s]+@[^@\s]+$/;

const DOINGS: { readonly [what in Change['what']]: (who: Who) => Promise<unknown> } = {
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
      return note(failureText(error, data), 'bad');
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
      note(failureText(error, data), 'bad');
    }
  },
  move: () =>
    ask(
      changes.move,
      (fault) => <FolderFields folders={data.folders} chosen={data.folderId} texts={changes} fault={fault} />,
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
        return { field: place, text: failureText(error, data) };
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

/** Width of a page of the preview, CSS pixels. */
const PREVIEW_WIDTH = 480;

let drawing: Promise<unknown> = Promise.resolve();

/** One after the other: all files of a page share the worker of pdf.js, which ends with the first that is destroyed. */
function draw(page: number): Promise<DrawnPage> {
  const drawn = drawing.then(() => drawPage(page));
  drawing = drawn.catch(() => undefined);
  return drawn;
}

async function drawPage(page: number): Promise<DrawnPage> {
  try {
    return await drawFrom(data.preview, page);
  } catch {
    // The ticket has ended; the page as it is now has another one.
    await refresh();
    return drawFrom(data.preview, page);
  }
}

async function drawFrom(preview: string | undefined, page: number): Promise<DrawnPage> {
  if (preview === undefined) throw new Error('There is no file to show.');
  const { file } = await openPdf(preview);
  try {
    const { width, height } = (await file.getPage(page)).getViewport({ scale: 1 });
    const canvas = await drawnPage(file, page, PREVIEW_WIDTH);
    return { number: page, canvas, width, height, count: file.numPages };
  } finally {
    // The page may stay open for hours.
    await file.destroy();
  }
}

/** Uploads a file, begins the flow again with it, and shows the page anew. */
async function replaceFile(file: File, progress: (percent: number) => void): Promise<void> {
  const { id, name, contentType } = await upload<Upload>(data, file, progress);
  const displayName = file.name.replace(/\.[^.]{1,8}$/, '') || file.name;
  await call(data, 'POST', `${path}/versions`, { file: { id, name, contentType, displayName } });
  location.assign(below(`/account/documents/${encodeURIComponent(documentId)}?done=replaced`));
}

function act({ what, who }: Change): void {
  void DOINGS[what](who);
}

const ISLANDS = {
  preview: (props: PreviewProps) => <DocumentPreview {...props} draw={draw} />,
  change: (props: Change) => <ChangeButton {...props} act={act} />,
  'person-menu': (props: Parameters<typeof PersonMenu>[0]) => <PersonMenu {...props} act={act} />,
  'new-version': (props: NewVersionProps) => <NewVersion {...props} send={replaceFile} />,
};

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
    document.adoptNode(fresh);
    keepIsland(ISLANDS, 'preview', fresh);
    shown.replaceWith(fresh);
    hydrateIslands(ISLANDS);
    showTimes();
    if (activeElement !== null && shown.contains(activeElement)) focusAgain(activeElement);
  },
});
const closed = ({ target }: Event): void => {
  if (isBehind && target instanceof HTMLDetailsElement && !target.open) void refresh();
};
startDrops();
hydrateIslands(ISLANDS);
document.addEventListener('toggle', closed, { capture: true });
keepTimes();
requireElement('main').setAttribute('data-live', '');
