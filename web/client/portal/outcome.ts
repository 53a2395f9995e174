/** Status messages of the signing page, and reads the fields that the participant fills in. */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { filled } from '../../pages/portal/texts.ts';
import { createElement, findElement, focusElement, requireElement } from '../dom.ts';
import { sendEvent } from './parent-window.ts';
import { Refused, upload } from './requests.ts';

/**
 * Text for the live region; the focus stays. @param near the control that it is about: on a phone the text would be off
 * the screen elsewhere
 */
export function showStatus(
  text: string,
  kind: 'good' | 'bad' | 'busy' | 'plain' = 'plain',
  near?: Element | null,
): void {
  const outcome = requireElement('#outcome');
  // Above a button that sends the form, below all others.
  if (near instanceof HTMLButtonElement && near.type === 'submit') near.before(outcome);
  else (near?.closest('.boxes') ?? near)?.after(outcome);
  outcome.className = `outcome ${kind}`;
  outcome.textContent = text;
  outcome.scrollIntoView({ block: 'nearest' });
}

/** Refusals after which another state is true. */
const OVER = new Set(['InvalidDocumentStatus', 'InvalidFlowAction', 'FlowActionNotFound', 'VersionChanged']);

/** Final state: hides the forms and moves the focus to the message. */
export function showFinished(text: string): void {
  // Above the downloads, which would push it off the screen.
  requireElement('#afterwards').before(requireElement('#outcome'));
  for (const over of ['#forms', '#acting', '#left', '#guide', '#refuse-link'])
    document.querySelector(over)?.remove();
  showStatus(text, 'good');
  requireElement('#outcome').focus();
  requireElement('#outcome').scrollIntoView({ block: 'center' });
}

/** Marks an invalid field and moves the focus there. */
export function showMissing(field: HTMLElement, text: string): void {
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-errormessage', 'outcome');
  field.focus();
  // A field on a page of the document has its message in the bar at the bottom of the window.
  const isOnPage = field.closest('.page') !== null;
  showStatus(text, 'bad', isOnPage ? findElement('#guide')?.firstElementChild : field);
  if (isOnPage) field.scrollIntoView({ block: 'center' });
}

/**
 * Runs the action of a form, once at a time. Resolves with true on success. @param pressed the button, which in Safari does
 * not take the focus
 */
export async function withStatus(
  form: HTMLElement,
  { words, documentId, embedOrigins }: Pick<SigningData, 'words' | 'documentId' | 'embedOrigins'>,
  work: () => Promise<void>,
  pressed: Element | null = form.querySelector('button[type="submit"]'),
): Promise<boolean> {
  if (form.getAttribute('aria-busy') === 'true') return false;
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  const before = document.activeElement;
  form.setAttribute('aria-busy', 'true');
  // `aria-disabled`, because a disabled button would lose the focus.
  const buttons = [...form.querySelectorAll('button')];
  for (const button of buttons) button.setAttribute('aria-disabled', 'true');
  showStatus(words.working, 'busy', pressed);
  try {
    await work();
    return true;
  } catch (error) {
    const code = error instanceof Refused ? error.code : 'unknown';
    // They have expired: the next attempt sends the files again.
    if (code === 'UploadNotFound') uploads = new WeakMap();
    sendEvent({ type: 'error', id: documentId, code }, embedOrigins);
    const wrong = findElement('[aria-invalid="true"]');
    // What is wrong stands behind the dialog.
    if (wrong !== undefined && !form.contains(wrong)) form.closest('dialog')?.close();
    focusElement(wrong);
    showStatus(error instanceof Refused ? error.message : words.failed, 'bad', wrong ?? pressed);
    if (OVER.has(code)) {
      requireElement('#outcome').append(' ', createElement('a', { href: '' }, words.loadAgain));
      document.dispatchEvent(new Event('visit-over'));
    }
    return false;
  } finally {
    form.removeAttribute('aria-busy');
    for (const button of buttons) button.removeAttribute('aria-disabled');
    if (before?.isConnected === true && document.activeElement === document.body) focusElement(before);
  }
}

/** Most bytes of a file. */
const MAX_FILE_BYTES = 4_000_000;

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Names a control that is missing or wrong, and says how. */
interface Fault {
  readonly control: Control;
  readonly text: string;
}

/**
 * Returns the values by name of field, without files; null when some are wrong: all are marked, and the first has the
 * focus and its message on the page. The service checks them again. @param others what is wrong in the form itself
 */
export function filledFields(
  { fields, words }: Pick<SigningData, 'fields' | 'words'>,
  others: readonly Fault[] = [],
): Record<string, string | boolean> | null {
  const values: Record<string, string | boolean> = {};
  const wrong: Fault[] = [];
  for (const [index, { name, label }] of fields.entries()) {
    const control = controlOf(index);
    // Its condition hides it.
    if (control === undefined || control.hidden) continue;
    const file = fileOf(control);
    const fault = !control.checkValidity()
      ? `${label}: ${faultOf(control, words)}`
      : file !== undefined && file.size > MAX_FILE_BYTES
        ? words.fileTooLarge
        : undefined;
    if (fault === undefined) control.removeAttribute('aria-invalid');
    else {
      control.setAttribute('aria-invalid', 'true');
      wrong.push({ control, text: fault });
    }
    if (isFile(control)) continue;
    values[name] = isTick(control) ? control.checked : control.value;
  }
  // Fields stand before the forms.
  wrong.push(...others);
  for (const { control } of others) control.setAttribute('aria-invalid', 'true');
  const [first] = wrong;
  if (first === undefined) return values;
  showMissing(first.control, first.text);
  return null;
}

/** Names the fault of a field in the language of the page: the browser's own message has that of the browser. */
function faultOf(control: Control, words: SigningData['words']): string {
  const { valueMissing, rangeUnderflow, rangeOverflow } = control.validity;
  if (valueMissing) return words.fieldMissing;
  if (rangeUnderflow) return filled(words.fieldTooSmall, { value: control.getAttribute('min') ?? '' });
  if (rangeOverflow) return filled(words.fieldTooLarge, { value: control.getAttribute('max') ?? '' });
  return words.fieldInvalid;
}

export function controlAt(selectors: string): Control | undefined {
  const element = findElement(selectors);
  const isControl =
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement;
  return isControl ? element : undefined;
}

/** The control of the form for a field. */
export function controlOf(index: number | string): Control | undefined {
  return controlAt(`#field-${index}`);
}

/** Ids of the files that were uploaded, so that a further attempt to sign sends none again. */
let uploads = new WeakMap<File, string>();

/** Uploads the files of attachments; returns the ids by name of field. The field of a refused one gets the focus. */
export async function uploadedFiles(data: SigningData): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [index, { name }] of data.fields.entries()) {
    const control = controlOf(index);
    const file = control && fileOf(control);
    if (control === undefined || control.hidden || file === undefined) continue;
    try {
      const id = uploads.get(file) ?? (await upload(data, name, file)).id;
      uploads.set(file, id);
      ids[name] = id;
    } catch (error) {
      if (error instanceof Refused && error.code === 'InvalidFieldValue') {
        control.setAttribute('aria-invalid', 'true');
        control.focus();
      }
      throw error;
    }
  }
  return ids;
}

export function isFile(control: Control): control is HTMLInputElement {
  return control.type === 'file';
}

export function isTick(control: Control): control is HTMLInputElement {
  return control.type === 'checkbox';
}

function fileOf(control: Control): File | undefined {
  return isFile(control) ? control.files?.[0] : undefined;
}
