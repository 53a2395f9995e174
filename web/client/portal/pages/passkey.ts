/** Asks the authenticator of the browser for a new passkey, or for the signature of one, and sends its answer with the form. */
import { requireElement } from '../../dom.ts';

interface Descriptor {
  readonly type: 'public-key';
  readonly id: string;
  readonly transports: AuthenticatorTransport[];
}

/** Request of the server, as JSON of Web Authentication Level 3; only a new passkey has a user. */
interface Options {
  readonly challenge: string;
  readonly user?: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly excludeCredentials?: readonly Descriptor[];
  readonly allowCredentials?: readonly Descriptor[];
}

interface Words {
  readonly cancelled: string;
  readonly known: string;
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (one) => one.charCodeAt(0));
}

function base64url(given: ArrayBuffer): string {
  const plain = String.fromCharCode(...new Uint8Array(given));
  return btoa(plain).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const known = (list: readonly Descriptor[] = []) => list.map((one) => ({ ...one, id: bytes(one.id) }));

async function answerTo(options: Options): Promise<string> {
  const { challenge: asked, user, excludeCredentials, allowCredentials, ...more } = options;
  const challenge = bytes(asked);
  const credential = await (user === undefined
    ? navigator.credentials.get({
        publicKey: { ...more, challenge, allowCredentials: known(allowCredentials) },
      })
    : navigator.credentials.create({
        publicKey: {
          ...(more as Pick<PublicKeyCredentialCreationOptions, 'rp' | 'pubKeyCredParams'>),
          ...{ challenge, user: { ...user, id: bytes(user.id) } },
          excludeCredentials: known(excludeCredentials),
        },
      }));
  const { id, type, response } = credential as PublicKeyCredential;
  const parts: Record<string, unknown> = {};
  for (const name of [
    'clientDataJSON',
    'attestationObject',
    'authenticatorData',
    'signature',
    'userHandle',
  ]) {
    const value = Reflect.get(response, name) as ArrayBuffer | null | undefined;
    if (value) parts[name] = base64url(value);
  }
  if (response instanceof AuthenticatorAttestationResponse) parts['transports'] = response.getTransports();
  return JSON.stringify({ id, rawId: id, type, response: parts });
}

async function send(form: HTMLFormElement): Promise<void> {
  const button = requireElement('button', HTMLButtonElement, form);
  const trouble = requireElement('.error', HTMLElement, form);
  button.disabled = true;
  trouble.textContent = '';
  try {
    const answer = await answerTo(JSON.parse(form.dataset['passkey'] ?? '') as Options);
    requireElement('[name="credential"]', HTMLInputElement, form).value = answer;
    form.submit();
  } catch (error) {
    const words = JSON.parse(form.dataset['words'] ?? '') as Words;
    const isKnown = error instanceof DOMException && error.name === 'InvalidStateError';
    trouble.textContent = isKnown ? words.known : words.cancelled;
    button.disabled = false;
    button.focus();
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) {
  if (!('PublicKeyCredential' in window)) continue;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
  form.hidden = false;
}
