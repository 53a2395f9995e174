/**
 * Signing with a certificate file: it is opened by a thread of its own, and the service sees the certificate, what is
 * to be signed, and the signature.
 *
 * Source: portal-gaps §10, "Certificate signature".
 */
import { maybe, type Part, part, Worker } from './dom.ts';
import { initialsOn, type PageSize } from './initials.ts';
import type { KeyAnswer, KeyRequest, KeyTrouble } from './key-messages.ts';
import { attempt, lacking } from './outcome.ts';
import { filled, type SigningData } from './page-data.ts';
import { post, Refused } from './requests.ts';

interface Judged {
  readonly success: boolean;
  readonly validationResults?: { readonly errors?: readonly { readonly message: string }[] } | null;
}

interface Started extends Judged {
  readonly token: string | null;
  /** Base64. */
  readonly toSignHash: string | null;
  readonly toSign?: string | null;
}

/** @param signed is told what to say */
export function startCertificate(
  form: Part,
  data: SigningData,
  pageSizes: () => Promise<readonly PageSize[]>,
  signed: (text: string) => void,
): void {
  const { words } = data;
  const file = part('#certificate-file');
  const password = part('#certificate-password');

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = file.files?.[0];
    if (chosen === undefined) return lacking(file, words.fileNeeded);
    void attempt(form, data, async () => {
      const keys = new KeyThread(words);
      try {
        const opened = await keys.open(await chosen.arrayBuffer(), password.value).catch((error: unknown) => {
          if (error instanceof Refused && error.code === 'password-wrong') {
            password.setAttribute('aria-invalid', 'true');
            password.focus();
          }
          throw error;
        });
        const initials = await initialsOn(data, maybe('#certificate-initials'), pageSizes);
        const started = await post<Started>(data, 'signature/certificate', {
          certificate: base64(opened.certificate),
          // Places that are sent stand for all that were placed beforehand.
          ...(initials.length > 0 && { signaturePositions: [...data.marks, ...initials] }),
        });
        const { token, toSignHash } = started;
        if (!started.success || token === null || toSignHash === null) throw rejected(started, data);
        const toSign = typeof started.toSign === 'string' ? fromBase64(started.toSign) : null;
        const signature = await keys.sign(toSign, fromBase64(toSignHash));
        const done = await post<Judged>(data, 'signature', {
          token,
          signature: base64(signature),
          disableNotifications: data.disableNotifications,
        });
        if (!done.success) throw rejected(done, data);
        password.value = '';
        signed(opened.holder === '' ? words.signed : filled(words.signedAs, { name: opened.holder }));
      } finally {
        keys.end();
      }
    });
  });
}

function rejected({ validationResults }: Judged, { words }: SigningData): Refused {
  const reasons = (validationResults?.errors ?? []).map(({ message }) => message).join(' ');
  return new Refused('certificate-rejected', `${words.certificateRejected} ${reasons}`.trim());
}

/** The page's end of the thread that holds the key. */
class KeyThread {
  readonly #worker = new Worker(new URL('key-worker.js', import.meta.url), { type: 'module' });
  readonly #words: SigningData['words'];

  constructor(words: SigningData['words']) {
    this.#words = words;
  }

  async open(file: ArrayBuffer, password: string) {
    const answer = await this.#ask({ ask: 'open', file, password });
    if (answer.answer !== 'opened') throw this.#refused('file-unreadable');
    return answer;
  }

  async sign(data: Uint8Array | null, hash: Uint8Array): Promise<Uint8Array> {
    const answer = await this.#ask({ ask: 'sign', data, hash });
    if (answer.answer !== 'signed') throw this.#refused('key-unsupported');
    return answer.signature;
  }

  end(): void {
    this.#worker.terminate();
  }

  #ask(request: KeyRequest): Promise<Exclude<KeyAnswer, { readonly answer: 'failed' }>> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }) => {
        const answer = data as KeyAnswer;
        if (answer.answer === 'failed') reject(this.#refused(answer.trouble));
        else resolve(answer);
      };
      this.#worker.onerror = () => reject(new Refused('unreachable', this.#words.unreachable));
      this.#worker.postMessage(request);
    });
  }

  #refused(trouble: KeyTrouble): Refused {
    const texts: { readonly [Trouble in KeyTrouble]: string } = {
      'password-wrong': this.#words.passwordWrong,
      'file-unreadable': this.#words.fileUnreadable,
      'file-damaged': this.#words.fileDamaged,
      'file-unsupported': this.#words.fileUnsupported,
      'key-missing': this.#words.keyMissing,
      'key-unsupported': this.#words.keyUnsupported,
      'needs-https': this.#words.needsHttps,
    };
    return new Refused(trouble, texts[trouble]);
  }
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
