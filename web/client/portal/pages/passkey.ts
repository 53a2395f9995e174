/** Asks the authenticator of the browser for a new passkey, or for the signature of one, and sends its answer with the form. */
import { requireElement } from '../../dom.ts';
import { answerTo, type PasskeyOptions } from '../passkey-answers.ts';

interface Words {
  readonly cancelled: string;
  readonly known: string;
}

async function send(form: HTMLFormElement): Promise<void> {
  const button = requireElement('button', HTMLButtonElement, form);
  const trouble = requireElement('.error', HTMLElement, form);
  button.disabled = true;
  trouble.textContent = '';
  try {
    const answer = await answerTo(JSON.parse(form.dataset['passkey'] ?? '') as PasskeyOptions);
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
