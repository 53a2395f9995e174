/** API client of the pages, with the browser's session, and its messages to people. */
import { createElement, delay, findElement, requireElement, returnFocus } from '../dom.ts';
import { noteServerTime } from './times.ts';

/** A refusal of the service. */
export class ApiProblem extends Error {
  readonly code: string;
  /** Seconds until another try may succeed. */
  readonly retryAfter: number;
  constructor(code: string, title: string, retryAfter = 0) {
    super(title);
    this.name = 'ApiProblem';
    this.code = code;
    this.retryAfter = retryAfter;
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
  noteServerTime(answer.headers.get('date'));
  if (answer.status === 401) {
    location.assign(`/login?ReturnUrl=${encodeURIComponent(location.pathname + location.search)}`);
    return new Promise(() => {});
  }
  const body = (await answer.json().catch(() => ({}))) as { readonly code?: string; readonly title?: string };
  if (answer.ok) return body as Body;
  const retryAfter = Number(answer.headers.get('retry-after') ?? '0');
  const title = body.title ?? `Answered ${answer.status}.`;
  throw new ApiProblem(body.code ?? `status.${answer.status}`, title, retryAfter);
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

/** True where the service serves a portal: the navigation has a link to e-mails. */
export function hasPortal(): boolean {
  return findElement('nav a[href="/mails"]') !== undefined;
}

/** As `getShared`, for what a portal has; undefined without one. */
export async function getServed<Body>(path: string): Promise<Body | undefined> {
  return hasPortal() ? getShared<Body>(path) : undefined;
}

/** As `getJson`, for replies whose error statuses are results. */
export async function requestAny<Body>(path: string): Promise<Body> {
  let answer: Response;
  try {
    answer = await fetch(path, { headers: { accept: 'application/json' } });
  } catch {
    throw new ApiProblem('service.unreachable', 'The service cannot be reached.');
  }
  return (await answer.json()) as Body;
}

/** The problem in an error of any kind. */
export function problemOf(error: unknown): ApiProblem {
  return error instanceof ApiProblem ? error : new ApiProblem('page.fault', String(error));
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
    { class: good ? 'toast good' : 'toast bad', 'data-code': code },
    createElement('code', {}, code),
    ` ${text}`,
  );
  requireElement('#toasts').append(shown);
  delay(good ? TOAST_MS : ERROR_TOAST_MS, () => shown.remove());
}

/** Copies the command that prints what a path answers. */
export async function copyCommand(path: string): Promise<void> {
  const address = `${location.origin}${path}`.replaceAll("'", '%27');
  const command = `curl -H "X-API-Key: $SEALWRIGHT_KEY" '${address}'`;
  try {
    await navigator.clipboard.writeText(command);
    toast('ok', 'The command is copied.');
  } catch {
    // Browsers give no clipboard to pages without HTTPS.
    toast('ok', command);
  }
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
    const problem = problemOf(error);
    toast(problem.code, problem.message);
    return false;
  } finally {
    button.disabled = false;
    // A disabled button loses the focus.
    if (isFocused && document.activeElement === document.body) returnFocus(button);
  }
}
