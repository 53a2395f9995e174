/** Calls of the API with the session of the signed-in sender. */

import { type EditorScriptTexts, textBy } from '../../../pages/portal/texts.ts';
import { below, createElement, delay } from '../../dom.ts';
import type { CreationRequest } from './editor-model.ts';

export interface SenderSession {
  /** Sent with each call that changes something. */
  readonly formToken: string;
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

/** Events of the editor for the page around it: `saved`, `sent` with the documents, `failed` with the error. */
export function tellPage(type: 'saved' | 'sent' | 'failed', detail: unknown): boolean {
  return document.dispatchEvent(new CustomEvent(`editor-${type}`, { detail, cancelable: true }));
}

/** The header that proves the session. */
function credential({ formToken, editorToken }: SenderSession): readonly [string, string] {
  return editorToken === undefined ? ['x-form-token', formToken] : ['x-editor-session', editorToken];
}

/** Sends JSON. Resolves with the reply, undefined when it is empty. */
export async function call<Answer>(
  session: SenderSession,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
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

/** Asks for a file, and hands it to the person. */
export async function download(session: SenderSession, path: string, body: object): Promise<void> {
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
