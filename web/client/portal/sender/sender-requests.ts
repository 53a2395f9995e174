/** Calls of the API with the session of the signed-in sender. */

import { type EditorScriptTexts, textBy } from '../../../pages/portal/texts.ts';
import { below, createElement, delay, parseHtml } from '../../dom.ts';
import type { CreationRequest } from './editor-model.ts';

export interface SenderSession {
  /** Sent with each call that changes something. */
  readonly formToken: string;
  /** The signed-in person in the organization; absent: a later session is not looked for. */
  readonly userId?: string;
  /** Token of a session in another application, in place of `formToken`. */
  readonly editorToken?: string;
  readonly words: Pick<EditorScriptTexts, 'failed' | 'unreachable' | 'signedOut' | 'refusals'>;
}

/** Data of the page. */
export interface EditorData extends SenderSession {
  /** The draft that is edited. */
  readonly draft: { readonly id: string; readonly document: CreationRequest } | null;
  /** The template that gets a new version. */
  readonly template: { readonly id: string; readonly document: CreationRequest } | null;
  /** Paths of the known files, by upload id. */
  readonly locations: { readonly [uploadId: string]: string };
  /** Path of the API for the draft; absent: that of the draft's id. */
  readonly draftPath?: string;
  /** A template is edited; a new one has no id. */
  readonly isTemplate?: boolean;
  /** Of the template that is edited. */
  readonly templateVersion?: number;
  readonly words: EditorScriptTexts;
}

/** A call that failed; the message is for people. */
export class CallFailed extends Error {
  /** Error code of the API; `Unreachable` without an answer. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = 'CallFailed';
    this.code = code;
  }
}

/** Says why a call failed, in the language of the page. */
export function failureText(error: unknown, { words }: Pick<SenderSession, 'words'>): string {
  if (!(error instanceof CallFailed)) return words.failed;
  return textBy(error.code, words.refusals) ?? error.message;
}

/** Events of the editor for the page around it: `saved`, `sent` with the documents, `failed` with the error. */
export function tellPage(type: 'saved' | 'sent' | 'failed', detail: unknown): boolean {
  return document.dispatchEvent(new CustomEvent(`editor-${type}`, { detail, cancelable: true }));
}

/** Token of a later session of the same person, who has signed in again in another tab. */
let laterToken: string | undefined;

/** The token of forms and of requests. */
export function tokenOf({ formToken }: Pick<SenderSession, 'formToken'>): string {
  return laterToken ?? formToken;
}

/** The header that proves the session. */
function credential(session: SenderSession): readonly [string, string] {
  const { editorToken } = session;
  return editorToken === undefined ? ['x-form-token', tokenOf(session)] : ['x-editor-session', editorToken];
}

/** Sends, and once more where only the token is that of an earlier session of the same person. */
export async function proven<Answer>(session: SenderSession, send: () => Promise<Answer>): Promise<Answer> {
  const sent = tokenOf(session);
  try {
    return await send();
  } catch (error) {
    const isRefused = error instanceof CallFailed && error.code === 'Forbidden';
    if (!isRefused || session.editorToken !== undefined || !(await takeLaterSession(session, sent)))
      throw error;
    return send();
  }
}

/**
 * Takes the token of the browser's session, if it is a later one of the person whose page this is.
 * @param sent the token that was refused; another call may have taken the later one meanwhile
 */
async function takeLaterSession(session: SenderSession, sent: string): Promise<boolean> {
  const answer = await fetch(below('/account'), { redirect: 'manual' }).catch(() => undefined);
  if (answer?.ok !== true) return false;
  const later = parseHtml(await answer.text()).querySelector<HTMLFormElement>('form[data-user]');
  const token = later?.querySelector<HTMLInputElement>('[name="formToken"]')?.value;
  if (token === undefined || token === sent || later?.dataset['user'] !== session.userId) return false;
  laterToken = token;
  for (const input of document.querySelectorAll<HTMLInputElement>('[name="formToken"]')) input.value = token;
  return true;
}

/** Sends JSON. Resolves with the reply, undefined when it is empty. */
export function call<Answer>(
  session: SenderSession,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answer> {
  return proven(session, () => callOnce<Answer>(session, method, path, body));
}

async function callOnce<Answer>(
  session: SenderSession,
  method: string,
  path: string,
  body: object | undefined,
): Promise<Answer> {
  const [name, value] = credential(session);
  const headers: Record<string, string> = { accept: 'application/json', [name]: value };
  if (body !== undefined) headers['content-type'] = 'application/json';
  let answer: Response;
  try {
    answer = await fetch(below(path), {
      method,
      headers,
      credentials: 'same-origin',
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new CallFailed(session.words.unreachable, 'Unreachable');
  }
  const text = answer.type === 'opaqueredirect' ? '' : await answer.text();
  if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  throw failure(session, answer.status, text);
}

/** The type that the service has found in the content of a file; the declared one where that is not to be learned. */
export async function typeOf(declared: string, location: string | undefined): Promise<string> {
  if (declared === 'application/pdf' || location === undefined) return declared;
  const answer = await fetch(below(location), { method: 'HEAD', credentials: 'omit' }).catch(() => undefined);
  const found = answer?.ok === true ? answer.headers.get('content-type') : null;
  return found === 'application/pdf' ? found : declared;
}

/** Asks for a file, and hands it to the person. */
export function download(session: SenderSession, path: string, body: object): Promise<void> {
  return proven(session, () => downloadOnce(session, path, body));
}

async function downloadOnce(session: SenderSession, path: string, body: object): Promise<void> {
  const [name, value] = credential(session);
  let answer: Response;
  try {
    answer = await fetch(below(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [name]: value },
      credentials: 'same-origin',
      redirect: 'manual',
      body: JSON.stringify(body),
    });
  } catch {
    throw new CallFailed(session.words.unreachable, 'Unreachable');
  }
  if (!answer.ok)
    throw failure(session, answer.status, answer.type === 'opaqueredirect' ? '' : await answer.text());
  const address = URL.createObjectURL(await answer.blob());
  const given = /filename="?([^";]+)/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
  createElement('a', { href: address, download: given ?? 'documents.zip' }).click();
  // The download has begun, and needs the address no more after a while.
  delay(60_000, () => URL.revokeObjectURL(address));
}

/** Uploads a file. @param progress per cent sent so far */
export function upload<Answer>(
  session: SenderSession & Pick<EditorData, 'draftPath'>,
  file: File,
  progress: (percent: number) => void,
): Promise<Answer> {
  return proven(session, () => uploadOnce<Answer>(session, file, progress));
}

function uploadOnce<Answer>(
  session: SenderSession & Pick<EditorData, 'draftPath'>,
  file: File,
  progress: (percent: number) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const path = session.draftPath === undefined ? '/api/uploads' : `${session.draftPath}/uploads`;
    request.open('POST', below(path));
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader(...credential(session));
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      progress(total === 0 ? 0 : Math.round((100 * loaded) / total)),
    );
    request.addEventListener('error', () => reject(new CallFailed(session.words.unreachable, 'Unreachable')));
    request.addEventListener('load', () => {
      if (request.status === 200) resolve(JSON.parse(request.responseText) as Answer);
      else reject(failure(session, request.status, request.responseText));
    });
    const form = new FormData();
    form.set('file', file);
    request.send(form);
  });
}

/** With a sentence in the language of the page. The service gives its reasons in English: pages in English add them. */
function failure({ words }: SenderSession, status: number, text: string): CallFailed {
  if (status === 401 || status === 0) return new CallFailed(words.signedOut, 'Unauthorized');
  try {
    const {
      code = 'NotFound',
      message = '',
      errors = {},
    } = JSON.parse(text) as {
      readonly code?: string;
      readonly message?: string;
      readonly errors?: { readonly [member: string]: readonly string[] };
    };
    const sentence = textBy(code, words.refusals) ?? `${words.failed} (${code})`;
    const members = Object.entries(errors).slice(0, 5);
    const reasons =
      document.documentElement.lang === 'en'
        ? [message, ...members.map(([member, texts]) => `${member}: ${texts.join(' ')}`)]
        : [members.map(([member]) => member).join(', ')];
    return new CallFailed([sentence, ...reasons].filter(Boolean).join(' '), code);
  } catch {
    return new CallFailed(words.failed, 'InternalError');
  }
}
