/** API client of the pages, with the browser's session, and its messages to people. */
import { createElement, delay, requireElement } from '../dom.ts';
import { returnFocus } from './focus.ts';

/** A refusal of the service. */
export class ApiProblem extends Error {
  readonly code: string;
  constructor(code: string, title: string) {
    super(title);
    this.name = 'ApiProblem';
    this.code = code;
  }
}

/** Duration of a toast, milliseconds; errors stay longer. */
const TOAST_MS = 5_000;
const ERROR_TOAST_MS = 12_000;

/**
 * Requests a JSON body. Rejects with `ApiProblem`; an ended session redirects to the login page, and the promise then
 * stays pending.
 */
export async function getJson<Body>(path: string, init?: RequestInit): Promise<Body> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers: { accept: 'application/json', ...init?.headers } });
  } catch {
    throw new ApiProblem('service.unreachable', 'The service cannot be reached.');
  }
  if (answer.status === 401) {
    location.assign(`/login?ReturnUrl=${encodeURIComponent(location.pathname + location.search)}`);
    return new Promise(() => {});
  }
  const body = (await answer.json().catch(() => ({}))) as { readonly code?: string; readonly title?: string };
  if (answer.ok) return body as Body;
  throw new ApiProblem(body.code ?? `status.${answer.status}`, body.title ?? `Answered ${answer.status}.`);
}

/** Version of the service that the page shows; see `GET /api/changes`. */
let version = '';

/** Sets the version that the answers to the next requests must include. @param known empty: computed for each request */
export function setVersion(known: string): void {
  version = known;
}

/** As `getJson`, for answers that pages with the same version share. */
export function getShared<Body>(path: string): Promise<Body> {
  if (version === '') return getJson<Body>(path);
  return getJson<Body>(`${path}${path.includes('?') ? '&' : '?'}version=${encodeURIComponent(version)}`);
}

/** As `getJson`, for replies whose error statuses are results. */
export async function requestAny<Body>(path: string): Promise<Body> {
  const answer = await fetch(path, { headers: { accept: 'application/json' } });
  return (await answer.json()) as Body;
}

/** Sends a POST with an optional JSON body. */
export function post<Body>(path: string, body?: object): Promise<Body> {
  if (body === undefined) return getJson<Body>(path, { method: 'POST' });
  return getJson<Body>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Shows the result code of an action. */
export function toast(code: string, text: string): void {
  const good = code === 'ok';
  const shown = createElement(
    'div',
    { class: good ? 'toast' : 'toast bad', 'data-code': code },
    createElement('code', {}, code),
    ` ${text}`,
  );
  requireElement('#toasts').append(shown);
  delay(good ? TOAST_MS : ERROR_TOAST_MS, () => shown.remove());
}

/**
 * Runs the action of a button, once at a time, and shows its result; `done` builds the text for success. Resolves
 * with true on success.
 */
export async function runAction<Body>(
  button: HTMLButtonElement,
  work: () => Promise<Body>,
  done: (body: Body) => string,
): Promise<boolean> {
  const isFocused = document.activeElement === button;
  button.disabled = true;
  try {
    toast('ok', done(await work()));
    return true;
  } catch (error) {
    const problem = error instanceof ApiProblem ? error : new ApiProblem('page.fault', String(error));
    toast(problem.code, problem.message);
    return false;
  } finally {
    button.disabled = false;
    // A disabled button loses the focus.
    if (isFocused && document.activeElement === document.body) returnFocus(button);
  }
}

/** Asks for a reason in a dialog; undefined when the person cancels, empty without a reason. */
export async function promptReason(
  title: string,
  confirm: string,
  { required = false }: { readonly required?: boolean } = {},
): Promise<string | undefined> {
  const input = createElement('input', { name: 'reason', maxlength: '512', autocomplete: 'off' });
  input.required = required;
  const label = createElement('label', {}, required ? 'Reason' : 'Reason (optional)', input);
  const answer = confirmDialog(title, confirm, label);
  input.focus();
  return (await answer) ? input.value : undefined;
}

/** Asks in a dialog with two buttons. Resolves with true for the button `confirm`. */
export function confirmDialog(
  title: string,
  confirm: string,
  ...content: readonly HTMLElement[]
): Promise<boolean> {
  const yes = createElement('button', { type: 'submit', value: 'yes' }, confirm);
  const no = createElement('button', { type: 'button' }, 'Back');
  const form = createElement(
    'form',
    { method: 'dialog' },
    createElement('h2', { id: 'dialog-title' }, title),
    ...content,
    createElement('div', { class: 'row' }, yes, no),
  );
  const dialog = createElement('dialog', { 'aria-labelledby': 'dialog-title' }, form);
  const before = document.activeElement;
  document.body.append(dialog);
  no.addEventListener('click', () => dialog.close());
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const { returnValue } = dialog;
      dialog.remove();
      returnFocus(before);
      resolve(returnValue === 'yes');
    });
    dialog.showModal();
  });
}
