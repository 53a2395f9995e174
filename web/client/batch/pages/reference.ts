/** Script of the reference page: the filter, and forms that send requests with the session of the browser. */
import { createElement, findElement, requireElement } from '../../dom.ts';

/** Maximum length of a response shown whole, characters. */
const SHOWN = 20_000;

const search = requireElement('#search', HTMLInputElement);
const found = requireElement('#found');
const operations = [...document.querySelectorAll<HTMLElement>('.operation')];

function filter(): void {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const operation of operations) {
    const words = operation.dataset['words'] ?? '';
    operation.hidden = !wanted.every((word) => words.includes(word));
    if (!operation.hidden) count += 1;
    const link = findElement(`[data-for="${operation.id}"]`);
    if (link !== undefined) link.hidden = operation.hidden;
  }
  found.textContent = wanted.length === 0 ? '' : `${count} of ${operations.length} operations`;
}

/** Method and address of the form's request. */
function requestOf(form: HTMLElement): { readonly url: string; readonly init: RequestInit } {
  let path = form.dataset['path'] ?? '';
  const query = new URLSearchParams();
  const headers = new Headers();
  const type = form.dataset['type'] ?? '';
  const fields = new FormData();
  let body: string | undefined;
  for (const key of document.querySelectorAll<HTMLInputElement>('#api-key')) {
    if (key.value !== '') headers.set(key.dataset['header'] ?? '', key.value);
  }
  for (const input of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')) {
    const { name, value } = input;
    const place = input.dataset['in'];
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'form' && input instanceof HTMLInputElement && input.files !== null) {
      const file = input.files[0];
      if (file !== undefined) fields.append(name, file, file.name);
    } else if (value === '') continue;
    else if (place === 'query') query.append(name, value);
    else if (place === 'header') headers.set(name, value);
    else if (place === 'form') fields.append(name, value);
    else body = value;
  }
  const search = query.size === 0 ? '' : `?${query}`;
  const init: RequestInit = { method: form.dataset['method'] ?? 'GET', headers, redirect: 'manual' };
  if (type === 'application/json' && body !== undefined) {
    headers.set('content-type', type);
    init.body = body;
  } else if (type === 'multipart/form-data') init.body = fields;
  else if (type === 'application/x-www-form-urlencoded') {
    const pairs = new URLSearchParams();
    for (const [name, value] of fields) pairs.append(name, String(value));
    init.body = pairs;
  }
  return { url: `${path}${search}`, init };
}

async function send(form: HTMLElement): Promise<void> {
  const output = requireElement('output', HTMLElement, form);
  const { url, init } = requestOf(form);
  output.replaceChildren(createElement('p', {}, 'Sent; waiting for the answer.'));
  try {
    const answer = await fetch(url, init);
    const text = await shownText(answer);
    const status = answer.type === 'opaqueredirect' ? 'a redirect' : `${answer.status} ${answer.statusText}`;
    output.replaceChildren(
      createElement('p', {}, `${init.method} ${url} was answered `, createElement('strong', {}, status)),
      createElement('pre', { tabindex: '0' }, text),
    );
  } catch {
    output.replaceChildren(createElement('p', {}, 'The service could not be reached.'));
  }
}

async function shownText(answer: Response): Promise<string> {
  const type = answer.headers.get('content-type') ?? '';
  if (!/json|text|xml/.test(type)) return type === '' ? '(no body)' : `(${type}; not shown)`;
  const text = await answer.text();
  const whole = /json/.test(type) ? JSON.stringify(JSON.parse(text), undefined, 2) : text;
  return whole.length > SHOWN ? `${whole.slice(0, SHOWN)}\n… ${whole.length - SHOWN} characters more` : whole;
}

search.addEventListener('input', filter);
// What was typed before this script ran.
filter();
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.closest('input, textarea') !== null;
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}
filter();
