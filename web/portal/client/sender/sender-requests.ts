/** Calls of the API with the session of the signed-in sender. */
import type { EditorScriptTexts } from '../../texts/sender-texts.ts';
import type { CreationRequest } from './editor-model.ts';

export interface SenderSession {
  /** Sent with each call that changes something. */
  readonly formToken: string;
  readonly words: { readonly failed: string; readonly unreachable: string; readonly signedOut: string };
}

/** Data of the page. */
export interface EditorData extends SenderSession {
  /** The draft that is edited. */
  readonly draft: { readonly id: string; readonly document: CreationRequest } | null;
  /** The template that gets a new version. */
  readonly template: { readonly id: string; readonly document: CreationRequest } | null;
  /** Paths of the known files, by upload id. */
  readonly locations: { readonly [uploadId: string]: string };
  readonly words: EditorScriptTexts;
}

/** A call that failed; the message is for people. */
export class CallFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CallFailed';
  }
}

/** Sends JSON. Resolves with the reply, undefined when it is empty. @param key idempotency key */
export async function call<Answer>(
  session: SenderSession,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
  key?: string,
): Promise<Answer> {
  const headers: Record<string, string> = { accept: 'application/json', 'x-form-token': session.formToken };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (key !== undefined) headers['idempotency-key'] = key;
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new CallFailed(session.words.unreachable);
  }
  const text = answer.type === 'opaqueredirect' ? '' : await answer.text();
  if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  throw new CallFailed(failureText(session, answer.status, text));
}

/** Uploads a file. @param progress per cent sent so far */
export function upload<Answer>(
  session: SenderSession,
  file: File,
  progress: (percent: number) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/uploads');
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader('x-form-token', session.formToken);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      progress(total === 0 ? 0 : Math.round((100 * loaded) / total)),
    );
    request.addEventListener('error', () => reject(new CallFailed(session.words.unreachable)));
    request.addEventListener('load', () => {
      if (request.status === 200) resolve(JSON.parse(request.responseText) as Answer);
      else reject(new CallFailed(failureText(session, request.status, request.responseText)));
    });
    const form = new FormData();
    form.set('file', file);
    request.send(form);
  });
}

/** A sentence in the language of the page, and the message of the service, which is in English. */
function failureText({ words }: SenderSession, status: number, text: string): string {
  if (status === 401 || status === 0) return words.signedOut;
  try {
    const { message, errors } = JSON.parse(text) as {
      readonly message?: string;
      readonly errors?: { readonly [member: string]: readonly string[] };
    };
    const details = Object.entries(errors ?? {}).map(([member, texts]) => `${member}: ${texts.join(' ')}`);
    return [words.failed, message ?? '', ...details.slice(0, 5)].filter(Boolean).join(' ');
  } catch {
    return words.failed;
  }
}
