/** A device that persons use one after the other: who walks away leaves nothing for the next one to see. */
import type { Texts } from '../../contracts/texts/texts.ts';
import { below, createElement, delay } from './dom.ts';

/** Time without a touch or a key after which the page asks, and then time to answer, milliseconds. */
const IDLE_MS = 120_000;
const ANSWER_MS = 30_000;

/** Begins anew when nobody answers. */
export function watchIdle({ idle, stay }: Texts['pages']['here']['script']): void {
  let stop = delay(IDLE_MS, ask);
  const again = (): void => {
    stop();
    stop = delay(IDLE_MS, ask);
  };
  function ask(): void {
    const title = createElement('h2', { id: 'idle-title' }, idle);
    const button = createElement('button', { type: 'submit', class: 'main' }, stay);
    const form = createElement('form', { method: 'dialog', class: 'body' }, button);
    const dialog = createElement(
      'dialog',
      { class: 'dialog', 'aria-labelledby': 'idle-title' },
      createElement('header', {}, title),
      form,
    );
    document.body.append(dialog);
    stop = delay(ANSWER_MS, () => location.replace(below('/here')));
    dialog.addEventListener('close', () => {
      dialog.remove();
      again();
    });
    dialog.showModal();
  }
  for (const type of ['pointerdown', 'keydown', 'input', 'wheel'])
    document.addEventListener(type, () => {
      if (document.querySelector('dialog[aria-labelledby="idle-title"]') === null) again();
    });
}
