/** Where the signing page says what became of something a participant did. */
import { document, type Part, part } from './dom.ts';
import type { SigningData } from './page-data.ts';
import { Refused } from './requests.ts';

/** Words that are read out as well; focus stays where it is. */
export function say(text: string, kind: 'good' | 'bad' | 'busy' | 'plain' = 'plain'): void {
  const outcome = part('#outcome');
  outcome.className = `outcome ${kind}`;
  outcome.textContent = text;
}

/** The end: nothing is left to fill in, and focus goes to the words. */
export function finish(text: string): void {
  for (const over of ['#forms', '#acting', '#jump']) document.querySelector(over)?.remove();
  say(text, 'good');
  part('#outcome').focus();
  part('#outcome').scrollIntoView({ block: 'center' });
}

/** Something is missing in a field: it is marked, and focus goes there. */
export function lacking(field: Part, text: string): void {
  field.setAttribute('aria-invalid', 'true');
  say(text, 'bad');
  field.focus();
}

/** Does what a form asks for, once at a time. Resolves with whether it was done. */
export async function attempt(
  form: Part,
  { words }: Pick<SigningData, 'words'>,
  work: () => Promise<void>,
): Promise<boolean> {
  if (form.getAttribute('aria-busy') === 'true') return false;
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  const before = document.activeElement;
  form.setAttribute('aria-busy', 'true');
  // Switched off and not disabled: a disabled button would lose the focus.
  const buttons = [...form.querySelectorAll('button')];
  for (const button of buttons) button.setAttribute('aria-disabled', 'true');
  say(words.working, 'busy');
  try {
    await work();
    return true;
  } catch (error) {
    say(error instanceof Refused ? error.message : words.failed, 'bad');
    return false;
  } finally {
    form.removeAttribute('aria-busy');
    for (const button of buttons) button.removeAttribute('aria-disabled');
    if (before?.isConnected === true && document.activeElement === document.body) before.focus();
  }
}
