/** HTTP client of the signing page: JSON with the ticket of the page. */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { textBy } from '../../pages/portal/texts.ts';
import { below } from '../dom.ts';

/** A failed action; the message is for people, in the language of the page. */
export class Refused extends Error {
  /** Error code of the service, or `unreachable`. */
  readonly code: string;
  /** Of a wrong code: how it was sent. */
  readonly channel: string | undefined;
  constructor(code: string, message: string, channel?: string) {
    super(message);
    this.name = 'Refused';
    this.code = code;
    this.channel = channel;
  }
}

/** Actions without an answer: the service may have done them. */
export const unanswered = new Set<string>();

/** Sends a POST to an address of the document. Resolves with the reply, undefined when it is empty. */
export function post<Answer>(
  data: Pick<SigningData, 'key' | 'ticket' | 'documentVersion' | 'words'>,
  action: string,
  body: object = {},
): Promise<Answer> {
  const { ticket, documentVersion } = data;
  return send(data, action, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ticket, documentVersion }),
  });
}

/** As `post`, to an address of the page, whose reply sets a cookie. */
export function postToPage<Answer>(
  data: Pick<SigningData, 'key' | 'ticket' | 'documentVersion' | 'words'>,
  action: string,
  body: object,
): Promise<Answer> {
  const { ticket, documentVersion } = data;
  return send(
    data,
    action,
    {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ticket, documentVersion }),
    },
    { base: '/document/key', credentials: 'same-origin' },
  );
}

/** Sends a file for a field. Resolves with the id of the upload. */
export function upload(
  data: Pick<SigningData, 'key' | 'ticket' | 'words'>,
  field: string,
  file: File,
): Promise<{ readonly id: string }> {
  const body = new FormData();
  body.set('file', file);
  return send(data, `uploads?${new URLSearchParams({ ticket: data.ticket, field })}`, { body });
}

async function send<Answer>(
  { key, words }: Pick<SigningData, 'key' | 'words'>,
  action: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body: BodyInit },
  { base, credentials }: { base: string; credentials: RequestCredentials } = {
    base: '/api/documents/keys',
    credentials: 'omit',
  },
): Promise<Answer> {
  let answer: Response;
  try {
    answer = await fetch(below(`${base}/${encodeURIComponent(key)}/${action}`), {
      method: 'POST',
      headers: { ...headers, accept: 'application/json' },
      credentials,
      body,
    });
  } catch {
    unanswered.add(action);
    throw new Refused('unreachable', words.unreachable);
  }
  const text = await answer.text();
  if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  const { code = '', details } = refusalOf(text);
  // The messages of the service are in English, and internal errors mean nothing to a participant.
  throw new Refused(code, textBy(code, words.refusals) ?? words.failed, details?.channel);
}

interface Refusal {
  readonly code?: string;
  readonly details?: { readonly channel?: string } | null;
}

function refusalOf(text: string): Refusal {
  try {
    return JSON.parse(text) as Refusal;
  } catch {
    return {};
  }
}

export function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Also reads the alphabet for addresses. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}
