/**
 * Starts the editor in another application: uses the link, loads the editor with the session's draft, and reports to the
 * parent window what happens.
 */
import type { EditorSession } from '../../../../clients/typescript/portal.d.ts';
import type { Texts } from '../../../../contracts/texts/texts.ts';
import type { EditorScriptTexts, PageMessage } from '../../../pages/portal/texts.ts';
import { createElement, findElement, focusElement, requireElement, sessionDraft } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { reportHeight, sendEvent } from '../parent-window.ts';
import type { CreationRequest } from '../sender/editor-model.ts';
import { CallFailed, call, type EditorData } from '../sender/sender-requests.ts';

interface SessionPage {
  readonly id: string;
  readonly draftId: string;
  readonly ticket: string;
  readonly embedded: boolean;
  /** Of an embedded page: those that hear events; empty = none. */
  readonly embedOrigins: readonly string[];
  readonly texts: Texts['editorSession'];
  readonly words: EditorScriptTexts;
  /** Data of the editor beside the draft. */
  readonly editor: object;
}

type Session = EditorSession & { readonly document: CreationRequest };

const CURRENT = '/api/editor-sessions/current';

const page = pageData<SessionPage>();
const { id, draftId, ticket, embedOrigins, embedded, texts, words } = page;
/** Refusals after which neither the link nor the session can be used. */
const OVER: ReadonlySet<string> = new Set(['Unauthorized', 'InvalidTicket', 'DocumentDraftNotFound']);
/** Name of the token in the storage of the tab: a reload goes on with the session. */
const KEPT = `editor-session-${id}`;

/** Continues the session of this tab, or uses the link. Rejects with a `CallFailed`. */
async function open(): Promise<{ readonly token: string; readonly session: Session }> {
  const kept = sessionDraft.read(KEPT);
  if (kept !== undefined)
    return { token: kept, session: await call<Session>(withToken(kept), 'GET', CURRENT) };
  const path = '/api/editor-sessions/open';
  const { token, ...session } = await call<Session & { readonly token: string }>(
    withToken(''),
    'POST',
    path,
    {
      ticket,
    },
  );
  sessionDraft.write(KEPT, token);
  return { token, session };
}

/** A draft of files alone starts with an empty person, like a new document. */
function withPerson(content: CreationRequest): CreationRequest {
  const flowActions = content.flowActions ?? [];
  return flowActions.length > 0
    ? content
    : { ...content, flowActions: [{ type: 'Signer', step: 1, allowElectronicSignature: true }] };
}

/** The people have no account, so the text for an ended session names the application from which they came. */
function withToken(editorToken: string) {
  return { formToken: '', editorToken, words: { ...words, signedOut: texts.over.text } };
}

/** Replaces the page by a message. @param returnUrl page to go back to */
function end({ title, text }: PageMessage, returnUrl: string | null): void {
  const heading = createElement('h1', { tabindex: '-1' }, title);
  const back =
    returnUrl === null || embedded
      ? []
      : [createElement('p', {}, createElement('a', { href: returnUrl }, texts.back))];
  const content = [heading, createElement('p', {}, text), ...back];
  const main = createElement('main', { id: 'main', class: 'account-main' }, ...content);
  (findElement('#editor') ?? requireElement('#main')).replaceWith(main);
  document.title = title;
  focusElement(heading);
}

function reportFailure(error: unknown): void {
  const code = error instanceof CallFailed ? error.code : 'InternalError';
  sendEvent({ type: 'error', id: draftId, code }, embedOrigins);
}

async function start(): Promise<void> {
  const { token, session } = await open();
  const { returnUrl } = session;
  /** Ends the session. It would end by itself, so a failure does not matter. */
  const close = async (notice: PageMessage): Promise<void> => {
    sessionDraft.write(KEPT, undefined);
    await call(withToken(token), 'DELETE', CURRENT).catch(() => undefined);
    end(notice, returnUrl);
    sendEvent({ type: 'closed', id: draftId }, embedOrigins);
    if (returnUrl !== null && !embedded) location.assign(returnUrl);
  };
  let isClosing = false;
  document.addEventListener('editor-saved', () => {
    sendEvent({ type: 'saved', id: draftId }, embedOrigins);
    if (isClosing) void close(texts.closed);
  });
  document.addEventListener('editor-failed', (event) => {
    isClosing = false;
    reportFailure((event as CustomEvent<unknown>).detail);
  });
  document.addEventListener('editor-sent', (event) => {
    event.preventDefault();
    const made = (event as CustomEvent<readonly { readonly documentId: string }[]>).detail;
    const documents = made.map(({ documentId }) => documentId);
    sendEvent({ type: 'sent', id: draftId, documents }, embedOrigins);
    void close(texts.sent);
  });
  const { document: content, locations } = session;
  const data: EditorData & { readonly close: string } = {
    ...page.editor,
    ...withToken(token),
    draft: { id: draftId, document: withPerson(content) },
    template: null,
    locations,
    draftPath: CURRENT,
    close: texts.saveAndClose,
  };
  requireElement('#page-data').textContent = JSON.stringify(data);
  await import('./editor.ts');
  requireElement('#editor').addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || target.closest('#close-editor') === null) return;
    isClosing = true;
    document.dispatchEvent(new Event('editor-close'));
  });
  sendEvent({ type: 'ready', id: draftId }, embedOrigins);
}

reportHeight(embedOrigins);
start().catch((error: unknown) => {
  const code = error instanceof CallFailed ? error.code : '';
  const isOver = OVER.has(code);
  // After any other failure the session may go on after a reload.
  if (isOver) sessionDraft.write(KEPT, undefined);
  const text = code === 'Unreachable' ? words.unreachable : words.failed;
  end(isOver ? texts.over : { title: texts.over.title, text }, null);
  reportFailure(error);
});
