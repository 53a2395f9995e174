/**
 * Signing with a certificate file: a worker opens it, and the service receives the certificate and the signature. A provider
 * that keeps the certificate has a page of its own.
 *
 * Source: docs/portal-values.md §10.
 */

import type { PortalOperations } from '../../../clients/typescript/portal.d.ts';
import type { SigningData } from '../../pages/portal/page-data.ts';
import { filled, textBy } from '../../pages/portal/texts.ts';
import { findElement, requireElement } from '../dom.ts';
import { initialsPlaces, type PageSize } from './initials.ts';
import type { KeyError, KeyRequest, KeyResponse } from './key-messages.ts';
import { filledFields, showMissing, uploadedFiles, withStatus } from './outcome.ts';
import { readingMember } from './reading.ts';
import { base64, fromBase64, post, postToPage, Refused } from './requests.ts';

/** Answer of the start, and of a completion after the file has changed; a completion otherwise has only the verdict. */
type Answer = PortalOperations['POST /api/documents/keys/{key}/signature']['answer'];

/** @param signed receives the message of success */
export function startCertificate(
  form: HTMLElement,
  data: SigningData,
  pageSizes: () => Promise<readonly PageSize[]>,
  signed: (text: string) => void,
): void {
  const { words } = data;
  const file = requireElement('#certificate-file', HTMLInputElement);
  const password = requireElement('#certificate-password', HTMLInputElement);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = file.files?.[0];
    if (chosen === undefined) return showMissing(file, words.fileNeeded);
    const fieldValues = filledFields(data);
    if (fieldValues === null) return;
    void withStatus(form, data, async () => {
      const keys = new KeyThread(words);
      try {
        const opened = await keys.open(await chosen.arrayBuffer(), password.value).catch((error: unknown) => {
          if (error instanceof Refused && error.code === 'password-wrong') {
            password.setAttribute('aria-invalid', 'true');
            password.focus();
          }
          throw error;
        });
        const started = await post<Answer>(data, 'signature/certificate', {
          certificate: base64(opened.certificate),
          ...(await filledMembers(data, fieldValues, pageSizes)),
        });
        if (!started.success) throw rejected(started, data);
        // Each other participant who signs meanwhile changes the file, which is then signed again.
        for (let answer = started; ; ) {
          const { token, toSignHash } = answer;
          if (typeof token !== 'string' || typeof toSignHash !== 'string') throw rejected(answer, data);
          const toSign = typeof answer.toSign === 'string' ? fromBase64(answer.toSign) : null;
          const signature = await keys.sign(toSign, fromBase64(toSignHash));
          answer = await post<Answer>(data, 'signature', {
            token,
            signature: base64(signature),
            disableNotifications: data.disableNotifications,
            ...readingMember(),
          });
          if (answer.success) break;
        }
        password.value = '';
        signed(opened.holder === '' ? words.signed : filled(words.signedAs, { name: opened.holder }));
      } finally {
        keys.end();
      }
    });
  });
}

/** Signing with a certificate that a provider keeps: what is filled in is sent, and the browser goes to the provider. */
export function startProviders(data: SigningData, pageSizes: () => Promise<readonly PageSize[]>): void {
  const form = findElement('#providers', HTMLFormElement);
  if (form === undefined) return;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pressed = event.submitter;
    const fieldValues = filledFields(data);
    if (!(pressed instanceof HTMLButtonElement) || fieldValues === null) return;
    void withStatus(
      form,
      data,
      async () => {
        const { address } = await postToPage<{ readonly address: string }>(data, 'sign-at-provider', {
          provider: pressed.value,
          culture: document.documentElement.lang,
          disableNotifications: data.disableNotifications,
          ...(await filledMembers(data, fieldValues, pageSizes)),
          ...readingMember(),
        });
        location.assign(address);
      },
      pressed,
    );
  });
}

/** Members of a request for what is filled in on the pages, and for the places of initials. */
async function filledMembers(
  data: SigningData,
  fieldValues: Readonly<Record<string, string | boolean>>,
  pageSizes: () => Promise<readonly PageSize[]>,
) {
  // The box of the form that is shown counts.
  const box = findElement('form:not([hidden]) [data-initials]', HTMLInputElement);
  const initials = await initialsPlaces(data, box, pageSizes);
  return {
    fieldValues: { ...fieldValues, ...(await uploadedFiles(data)) },
    // Positions in the request replace all positions placed before.
    ...(initials.length > 0 && { signaturePositions: [...data.marks, ...initials] }),
  };
}

function rejected({ validationResults }: Answer, { words }: SigningData): Refused {
  // The messages of the service are in English. An unknown type helps those whom the participant asks.
  const reasons = (validationResults?.errors ?? []).map(
    ({ type }) => textBy(type, words.certificateFaults) ?? `(${type})`,
  );
  return new Refused('certificate-rejected', [words.certificateRejected, ...reasons].join(' '));
}

/** Client of the worker that holds the key. */
class KeyThread {
  readonly #worker = new Worker(new URL('key-worker.js', import.meta.url), { type: 'module' });
  readonly #texts: SigningData['words'];

  constructor(words: SigningData['words']) {
    this.#texts = words;
  }

  async open(file: ArrayBuffer, password: string) {
    const answer = await this.#request({ ask: 'open', file, password });
    if (answer.answer !== 'opened') throw this.#refused('file-unreadable');
    return answer;
  }

  async sign(data: Uint8Array | null, hash: Uint8Array): Promise<Uint8Array> {
    const answer = await this.#request({ ask: 'sign', data, hash });
    if (answer.answer !== 'signed') throw this.#refused('key-unsupported');
    return answer.signature;
  }

  end(): void {
    this.#worker.terminate();
  }

  #request(request: KeyRequest): Promise<Exclude<KeyResponse, { readonly answer: 'failed' }>> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }) => {
        const answer = data as KeyResponse;
        if (answer.answer === 'failed') reject(this.#refused(answer.trouble));
        else resolve(answer);
      };
      this.#worker.onerror = () => reject(new Refused('unreachable', this.#texts.unreachable));
      this.#worker.postMessage(request);
    });
  }

  #refused(trouble: KeyError): Refused {
    const texts: { readonly [Trouble in KeyError]: string } = {
      'password-wrong': this.#texts.passwordWrong,
      'file-unreadable': this.#texts.fileUnreadable,
      'file-damaged': this.#texts.fileDamaged,
      'file-unsupported': this.#texts.fileUnsupported,
      'key-missing': this.#texts.keyMissing,
      'key-unsupported': this.#texts.keyUnsupported,
      'needs-https': this.#texts.needsHttps,
    };
    return new Refused(trouble, texts[trouble]);
  }
}
