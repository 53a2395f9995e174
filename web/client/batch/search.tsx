/** Search across jobs, documents, e-mails and actors, on each operator page; the key `/` leads to it. */
import { render } from 'preact';
import type { ActorPage, Job, JobList, MailList } from '../../../clients/typescript/batch.d.ts';
import { createElement, delay, findElement } from '../dom.ts';
import { getJson, getServed, hasPortal } from './api.ts';

interface Found {
  readonly group: string;
  readonly text: string;
  readonly note: string;
  readonly href: string;
}

/** Pause of typing after which the search starts, milliseconds. */
const TYPING_PAUSE_MS = 250;
const SHORTEST = 2;
const LIMIT = 5;

export const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** `kind/id` or `kind id`, or a beginning of the id. */
const ACTOR = /^([a-z][a-z-]*)[ /](\S*)$/i;

export function startSearch(): void {
  const input = findElement('#find', HTMLInputElement);
  const form = input?.form;
  if (input === undefined || !form) return;
  const place = createElement('div', { class: 'found' });
  form.append(place);
  let cancel = () => {};
  let latest = 0;
  let found: readonly Found[] | undefined;
  let active = -1;

  const draw = () => {
    input.setAttribute('aria-expanded', String(found !== undefined && found.length > 0));
    if (active >= 0) input.setAttribute('aria-activedescendant', `found-${active}`);
    else input.removeAttribute('aria-activedescendant');
    render(<Results found={found} active={active} />, place);
  };
  const close = () => {
    cancel();
    latest += 1;
    found = undefined;
    active = -1;
    draw();
  };
  const search = async () => {
    const text = input.value.trim();
    latest += 1;
    const mine = latest;
    if (text.length < SHORTEST) return close();
    const all = await find(text);
    // The person has typed on, or has left.
    if (mine !== latest) return;
    found = all;
    active = -1;
    draw();
  };

  for (const [name, value] of [
    ['role', 'combobox'],
    ['aria-expanded', 'false'],
    ['aria-controls', 'found'],
    ['aria-autocomplete', 'list'],
  ] as const) {
    input.setAttribute(name, value);
  }
  draw();
  input.addEventListener('input', () => {
    cancel();
    cancel = delay(TYPING_PAUSE_MS, () => void search());
  });
  input.addEventListener('keydown', (event) => {
    const count = found?.length ?? 0;
    if (event.key === 'Escape') {
      close();
      return;
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || count === 0) return;
    event.preventDefault();
    active = (active + step + count) % count;
    draw();
    findElement(`#found-${active}`)?.scrollIntoView({ block: 'nearest' });
  });
  form.addEventListener('submit', (event) => {
    const chosen = found?.[active];
    const text = input.value.trim();
    if (chosen === undefined && !ID.test(text)) return;
    event.preventDefault();
    if (chosen !== undefined) location.assign(chosen.href);
    // An id leads to what has it, also before the results are shown.
    else void find(text).then(([first]) => location.assign(first?.href ?? `/jobs/${text}`));
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node) || !form.contains(relatedTarget)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function Results({ found, active }: { found: readonly Found[] | undefined; active: number }) {
  const count = found?.length ?? 0;
  return (
    <>
      <div id="found" role="listbox" aria-label="Found" hidden={count === 0}>
        {found?.map(({ group, text, note, href }, at) => (
          <a
            id={`found-${at}`}
            role="option"
            aria-selected={at === active ? 'true' : 'false'}
            tabIndex={-1}
            href={href}
          >
            <span class="muted small">{group}</span>
            <span class="cut">{text}</span>
            <span class="muted small">{note}</span>
          </a>
        ))}
      </div>
      <p role="status" class={count > 0 ? 'unseen' : 'muted'}>
        {found && (count === 0 ? 'Nothing is found.' : `${count} found`)}
      </p>
    </>
  );
}

/** A part that cannot be searched finds nothing: the others are shown. */
async function find(text: string): Promise<readonly Found[]> {
  const parts = await Promise.all(
    [findJobs(text), findDocuments(text), findMails(text), findActors(text)].map((part) =>
      part.catch(() => []),
    ),
  );
  return parts.flat();
}

async function findJobs(text: string): Promise<readonly Found[]> {
  const query = new URLSearchParams({ fileName: text, pageSize: String(LIMIT) });
  const jobs = ID.test(text)
    ? [await getJson<Job>(`/api/jobs/${text.toLowerCase()}`)]
    : (await getJson<JobList>(`/api/jobs?${query}`)).items;
  return jobs.map(({ id, fileName, status }) => ({
    group: 'Job',
    text: fileName,
    note: status,
    href: `/jobs/${encodeURIComponent(id)}`,
  }));
}

async function findDocuments(text: string): Promise<readonly Found[]> {
  return hasPortal() ? actorsOf('document', text, 'Document') : [];
}

async function findMails(search: string): Promise<readonly Found[]> {
  const query = new URLSearchParams({ search, pageSize: String(LIMIT) });
  const list = await getServed<MailList>(`/api/mails?${query}`);
  return (list?.items ?? []).map(({ to, subject, about, status }) => ({
    group: 'E-mail',
    text: `${subject ?? about}, to ${to}`,
    note: status,
    href: `/mails?${new URLSearchParams({ search: to })}`,
  }));
}

/** Kinds by a part of their names, and actors by `kind/id` or the whole id. */
async function findActors(text: string): Promise<readonly Found[]> {
  const { kinds = [] } = await getJson<ActorPage>('/api/actors');
  const [, kind = '', id = ''] = ACTOR.exec(text) ?? [];
  const named = kinds.filter((one) => one.kind === kind.toLowerCase());
  const others = ID.test(text) ? kinds.filter((one) => one.count > 0 && !OWN.has(one.kind)) : [];
  const actors = await Promise.all([
    ...named.map((one) => actorsOf(one.kind, id)),
    ...others.map((one) => actorsOf(one.kind, text)),
  ]);
  const wanted = text.toLowerCase();
  const matching = kinds.filter((one) => one.kind.includes(wanted)).slice(0, LIMIT);
  return [
    ...actors.flat(),
    ...matching.map(({ kind: found, count }) => ({
      group: 'Actors',
      text: found,
      note: String(count),
      href: `/actors?${new URLSearchParams({ kind: found })}`,
    })),
  ];
}

/** Kinds that have a group of their own. */
const OWN: ReadonlySet<string> = new Set(['job', 'document']);

async function actorsOf(kind: string, id: string, group = 'Actor'): Promise<readonly Found[]> {
  const query = new URLSearchParams({ kind, limit: String(LIMIT), ...(id !== '' && { id }) });
  const { items = [] } = await getJson<ActorPage>(`/api/actors?${query}`);
  return items.map((actor) => ({
    group,
    text: group === 'Actor' ? `${actor.kind} ${actor.id}` : actor.id,
    note: actor.state,
    href: `/actors/${encodeURIComponent(actor.kind)}/${encodeURIComponent(actor.id)}`,
  }));
}
