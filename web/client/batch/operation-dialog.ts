/** Retry or cancel of many jobs: the number first, then a reason, then the progress. */
import type { Operation, OperationCount } from '../../../clients/typescript/batch.d.ts';
import { createElement, delay, setText } from '../dom.ts';
import { getJson, post, promptReason, toast } from './api.ts';
import { returnFocus } from './focus.ts';

/** See `POST /api/operations`. */
export interface OperationFilter {
  readonly [member: string]: string | readonly string[];
}

const POLL_MS = 500;
const ENDED = new Set(['Completed', 'Canceled', 'Failed']);

/** Asks, starts the operation and shows its progress. Resolves when it has ended or the person closes the dialog. */
export async function confirmOperation(action: 'retry' | 'cancel', filter: OperationFilter): Promise<void> {
  try {
    const request = { action, filter };
    const { matched } = await post<OperationCount>('/api/operations', {
      ...request,
      dryRun: true,
    });
    if (matched === 0) {
      toast('ok', `There is no job to ${action}.`);
      return;
    }
    const word = action === 'retry' ? 'Retry' : 'Cancel';
    const jobs = matched === 1 ? '1 job' : `${matched} jobs`;
    const reason = await promptReason(`${word} ${jobs}?`, `${word} ${jobs}`);
    if (reason === undefined) return;
    const operation = await post<Operation>('/api/operations', {
      ...request,
      ...(reason === '' ? {} : { reason }),
    });
    await showProgress(`${word} ${jobs}`, operation);
  } catch (error) {
    toast('page.fault', error instanceof Error ? error.message : String(error));
  }
}

function showProgress(title: string, operation: Operation): Promise<void> {
  const bar = createElement('progress', { max: String(operation.matched), 'aria-label': title });
  const text = createElement('p', { role: 'status' });
  const stop = createElement('button', { type: 'button' }, 'Stop');
  const close = createElement('button', { type: 'button' }, 'Close');
  const dialog = createElement(
    'dialog',
    { 'aria-labelledby': 'operation-title' },
    createElement('h2', { id: 'operation-title' }, title),
    bar,
    text,
    createElement('div', { class: 'row' }, stop, close),
  );
  const before = document.activeElement;
  let isClosed = false;
  const show = ({ state, matched, done, skipped }: Operation) => {
    bar.value = done + skipped;
    setText(text, `${done} of ${matched} done, ${skipped} skipped. ${state}.`);
    // A hidden button loses the focus.
    if (ENDED.has(state) && document.activeElement === stop) close.focus();
    stop.hidden = ENDED.has(state);
    return ENDED.has(state);
  };
  const poll = async () => {
    if (isClosed) return;
    try {
      if (show(await getJson<Operation>(`/api/operations/${operation.id}`))) return;
    } catch (error) {
      text.textContent = error instanceof Error ? error.message : String(error);
    }
    delay(POLL_MS, () => void poll());
  };
  stop.addEventListener('click', () => void post(`/api/operations/${operation.id}/cancel`));
  close.addEventListener('click', () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  if (!show(operation)) delay(POLL_MS, () => void poll());
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      isClosed = true;
      dialog.remove();
      returnFocus(before);
      resolve();
    });
  });
}
