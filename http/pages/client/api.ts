/** The pages' way to the API, with the session of the browser; and what people are told about it. */
import { document, later, location, make, type PageElement, part } from './browser.ts';

/** The service refused. */
export class ApiProblem extends Error {
  readonly code: string;
  constructor(code: string, title: string) {
    super(title);
    this.name = 'ApiProblem';
    this.code = code;
  }
}

/** How long a toast stays, milliseconds; one about a refusal is longer. */
const TOAST_TIME = 5_000;
const TROUBLE_TIME = 12_000;

/**
 * The body of an answer. Rejects with `ApiProblem`; an ended session leads to the login page, and the promise then
 * stays open, because the page is about to go.
 */
export async function ask<Body>(path: string, init?: RequestInit): Promise<Body> {
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

/** The same, for answers that come with a status other than 2xx and are no refusals. */
export async function askAny<Body>(path: string): Promise<Body> {
  const answer = await fetch(path, { headers: { accept: 'application/json' } });
  return (await answer.json()) as Body;
}

/** A POST with an optional JSON body. */
export function post<Body>(path: string, body?: object): Promise<Body> {
  if (body === undefined) return ask<Body>(path, { method: 'POST' });
  return ask<Body>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Shows the result code of something a person did. */
export function toast(code: string, text: string): void {
  const good = code === 'ok';
  const shown = make(
    'div',
    { class: good ? 'toast' : 'toast bad', 'data-code': code },
    make('code', {}, code),
    ` ${text}`,
  );
  part('#toasts').append(shown);
  later(good ? TOAST_TIME : TROUBLE_TIME, () => shown.remove());
}

/**
 * Does what a button asks for, once at a time, and says what became of it; `done` gives the text for success.
 * Resolves with whether it succeeded.
 */
export async function act<Body>(
  button: PageElement,
  work: () => Promise<Body>,
  done: (body: Body) => string,
): Promise<boolean> {
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
  }
}

/** Asks for a reason in a dialog; undefined when the person changes their mind, empty when they give none. */
export function askReason(title: string, confirm: string): Promise<string | undefined> {
  const input = make('input', { name: 'reason', maxlength: '512', autocomplete: 'off' });
  const yes = make('button', { type: 'submit', value: 'yes' }, confirm);
  const no = make('button', { type: 'button' }, 'Back');
  const form = make(
    'form',
    { method: 'dialog' },
    make('h2', { id: 'dialog-title' }, title),
    make('label', {}, 'Reason (optional)', input),
    make('div', { class: 'row' }, yes, no),
  );
  const dialog = make('dialog', { 'aria-labelledby': 'dialog-title' }, form);
  const before = document.activeElement;
  document.body.append(dialog);
  no.addEventListener('click', () => dialog.close());
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const { returnValue } = dialog;
      dialog.remove();
      before?.focus();
      resolve(returnValue === 'yes' ? input.value : undefined);
    });
    dialog.showModal();
    input.focus();
  });
}
