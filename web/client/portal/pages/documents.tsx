/** `/account/documents`: live updates, and actions on the selected documents, each with its own result. */
import { render, type VNode } from 'preact';
import { Field } from '../../../components/controls.tsx';
import {
  type DocumentsActions,
  type DocumentsData,
  DocumentsView,
  type RowAction,
  type RowResult,
} from '../../../pages/portal/sender/documents.tsx';
import { FolderFields } from '../../../pages/portal/sender/folder-options.tsx';
import { RelativeTimes } from '../../../pages/portal/sender/relative-times.tsx';
import { counted, filled } from '../../../pages/portal/texts.ts';
import { askForm, type FieldFault } from '../../dialogs.tsx';
import { currentTime, delay, requireElement } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { changeFolderAccess } from '../sender/folder-access.tsx';
import { keepLive } from '../sender/live.ts';
import { note } from '../sender/notes.ts';
import { CallFailed, call, download, failureText } from '../sender/sender-requests.ts';

/** Distances of times are drawn again this often, milliseconds. */
const TICK_MS = 30_000;

let data = pageData<DocumentsData>();
const session = { formToken: data.formToken, words: data.words };
const { list } = data.texts;
const main = requireElement('main');
/** The reader's clock may be wrong. */
const offset = data.now - currentTime();
const ids = new Set<string>();
const results = new Map<string, RowResult>();
let running: string | undefined;

function draw(): void {
  const before = main.contains(document.activeElement) ? document.activeElement : null;
  render(
    <RelativeTimes language={data.language} now={currentTime() + offset}>
      <DocumentsView data={data} selection={{ ids, results, running }} actions={actions} />
    </RelativeTimes>,
    main,
  );
  // What had the focus may be gone now, or hidden.
  if (before?.getClientRects().length === 0) main.focus({ preventScroll: true });
}

const actions: DocumentsActions = {
  act: (action) => {
    const isPermitted =
      action === 'download' || data.items.some(({ id, mayChange }) => mayChange && ids.has(id));
    if (running === undefined && isPermitted && ids.size > 0) void ACTS[action]();
  },
  grant: () => void grant(),
  select(given, isSelected) {
    results.clear();
    for (const id of given) {
      if (isSelected) ids.add(id);
      else ids.delete(id);
    }
    draw();
  },
  selectNone() {
    if (running !== undefined) return;
    results.clear();
    ids.clear();
    draw();
  },
};

const ACTS: { readonly [action in RowAction]: () => Promise<unknown> } = {
  remind: () =>
    ask(
      'remind',
      list.remindAsk,
      () => <p>{list.remindText}</p>,
      async () => {
        void each('remind', async (item) => {
          if (item.pendingActions.length === 0) throw new CallFailed(list.notPending, 'NotPending');
          for (const flowActionId of item.pendingActions)
            await call(session, 'POST', '/api/notifications/flow-action-reminder', {
              documentId: item.id,
              flowActionId,
            });
        });
        return undefined;
      },
    ),
  cancel: () =>
    ask(
      'cancel',
      list.cancelAsk,
      (fault) => (
        <>
          <p>{list.cancelText}</p>
          <Field id="reason" name="reason" label={list.reason} maxLength={2000} error={fault?.text} />
        </>
      ),
      async (entered) => {
        const reason = String(entered.get('reason') ?? '').trim();
        if (reason === '') return { field: 'reason', text: list.reasonMissing };
        void each('cancel', (item) =>
          call(session, 'POST', `/api/documents/${item.id}/cancellation`, { reason }),
        );
        return undefined;
      },
    ),
  move: () =>
    ask('move', list.moveAsk, moveFields, async (entered) => {
      const name = String(entered.get('newFolderName') ?? '').trim();
      const folderId = String(entered.get('folderId') ?? '');
      const target = name === '' ? { folderId: folderId === '' ? null : folderId } : { newFolderName: name };
      try {
        const moved = await call<readonly { readonly id: string; readonly errorMessage: string | null }[]>(
          session,
          'POST',
          '/api/documents/batch/folder',
          { documents: [...ids], ...target },
        );
        results.clear();
        for (const { id, errorMessage } of moved)
          results.set(
            id,
            errorMessage === null
              ? { state: 'done', action: 'move' }
              : { state: 'refused', text: data.words.failed },
          );
      } catch (error) {
        return { field: name === '' ? 'folderId' : 'newFolderName', text: failureText(error, data) };
      }
      ids.clear();
      draw();
      await refresh();
      return undefined;
    }),
  /** The signed files, where there are any. */
  async download() {
    const chosen = data.items.filter(({ id }) => ids.has(id));
    const signed = chosen.filter(({ hasSignature }) => hasSignature);
    const packed = signed.length === 0 ? chosen : signed;
    results.clear();
    running = list.waiting;
    draw();
    let failure: string | undefined;
    try {
      await download(session, '/api/documents/archive', {
        documents: packed.map(({ id }) => id),
        type: signed.length === 0 ? 'Original' : 'Signatures',
      });
    } catch (error) {
      failure = failureText(error, data);
    }
    for (const item of chosen) {
      if (failure !== undefined) results.set(item.id, { state: 'refused', text: failure });
      else if (packed.includes(item)) results.set(item.id, { state: 'done', action: 'download' });
      else results.set(item.id, { state: 'refused', text: list.notSigned });
    }
    running = undefined;
    ids.clear();
    draw();
  },
};

function ask(
  action: RowAction,
  title: { readonly one: string; readonly other: string },
  content: (fault: FieldFault | undefined) => VNode,
  submit: (entered: FormData) => Promise<FieldFault | undefined>,
): Promise<boolean> {
  return askForm({
    content,
    submit,
    title: counted(data.language, title, ids.size),
    confirm: list[action].replace('…', ''),
    back: list.back,
    isDestructive: action === 'cancel',
  });
}

function moveFields(fault: FieldFault | undefined): VNode {
  return <FolderFields folders={data.folders} chosen={null} texts={list} fault={fault} />;
}

async function grant(): Promise<void> {
  const { folders, filters } = data;
  const isSaved = await changeFolderAccess(session, { id: filters.folder, folders, list });
  if (!isSaved) return;
  note(list.rights.saved);
  await refresh();
}

/** One call for each document, so that each row has its own result. */
async function each(
  action: RowAction,
  work: (item: DocumentsData['items'][number]) => Promise<unknown>,
): Promise<void> {
  const chosen = data.items.filter(({ id }) => ids.has(id));
  results.clear();
  for (const { id } of chosen) results.set(id, { state: 'waiting' });
  for (const [done, item] of chosen.entries()) {
    running = filled(list.running, { done, count: chosen.length });
    draw();
    try {
      if (!item.mayChange) throw new CallFailed(list.readOnly, 'Forbidden');
      await work(item);
      results.set(item.id, { state: 'done', action });
    } catch (error) {
      results.set(item.id, { state: 'refused', text: failureText(error, data) });
    }
  }
  running = undefined;
  ids.clear();
  draw();
  await refresh();
}

const refresh = keepLive<DocumentsData>({
  stale: list.stale,
  show(read) {
    data = read;
    // What is no longer on the page is not acted upon.
    for (const id of ids) if (!read.items.some((item) => item.id === id)) ids.delete(id);
    draw();
  },
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  requireElement('.find-documents [name="q"]').focus();
});
const tick = (): void => {
  if (!document.hidden) draw();
  delay(TICK_MS, tick);
};
tick();
main.setAttribute('data-live', '');
