/** The dialog in which a participant signs or approves, and what is typed on the page. */
import type { SigningData } from '../../pages/portal/page-data.ts';
import { findElement, requireElement, sessionDraft } from '../dom.ts';
import { type Control, controlAt, controlOf, isFile, isTick, showStatus } from './outcome.ts';

export interface SigningDialog {
  open(): void;
  close(): void;
}

/** True while an action is on its way. */
export function isBusy(): boolean {
  return findElement('form[aria-busy]') !== undefined;
}

export function startDialog(): SigningDialog {
  const dialog = requireElement('#signing', HTMLDialogElement);
  const title = requireElement('#signing-title');
  title.tabIndex = -1;
  const open = () => {
    dialog.showModal();
    // Not on a button: a key that is held down would press it.
    title.focus();
  };
  requireElement('#signing-close').addEventListener('click', () => {
    if (!isBusy()) dialog.close();
  });
  dialog.addEventListener('cancel', (event) => {
    if (isBusy()) event.preventDefault();
  });
  dialog.addEventListener('close', () => {
    // Browsers close it at a second Escape all the same; what has become of the action is said in it.
    if (isBusy()) return open();
    // Messages about the page are not in a closed dialog. Where the visit is over, there is none.
    const outcome = findElement('#outcome');
    if (outcome !== undefined && dialog.contains(outcome)) showStatus('', 'plain', requireElement('#acting'));
  });
  return { open, close: () => dialog.close() };
}

/** A form whose buttons work now; undefined where the participant has none. @param submit in place of the browser's own */
export function startForm(id: string, submit?: (form: HTMLFormElement) => void): HTMLFormElement | undefined {
  const form = findElement(`#${id}`, HTMLFormElement);
  if (form === undefined) return undefined;
  if (submit !== undefined)
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      submit(form);
    });
  for (const button of form.querySelectorAll('button')) button.disabled = false;
  return form;
}

/**
 * Keeps what is typed into fields over a reload, a change of the language, and a new version with other fields.
 * @returns forgets it
 */
export function keepTyped({ ticket, fields }: Pick<SigningData, 'ticket' | 'fields'>): () => void {
  const drafts: string[] = [];
  const keep = (what: string, control: Control | undefined) => {
    // A script cannot choose a file again.
    if (control === undefined || isFile(control)) return;
    const name = `${what} ${ticket}`;
    const draft = sessionDraft.read(name);
    if (draft !== undefined && isTick(control)) control.checked = draft === 'true';
    else if (draft !== undefined) control.value = draft;
    control.addEventListener('input', () =>
      sessionDraft.write(name, isTick(control) ? String(control.checked) : control.value),
    );
    drafts.push(name);
  };
  for (const id of ['typed-name', 'reason']) keep(id, controlAt(`#${id}`));
  for (const [index, { name }] of fields.entries()) keep(`field ${name}`, controlOf(index));
  return () => {
    for (const name of drafts) sessionDraft.write(name, undefined);
  };
}
