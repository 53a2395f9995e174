/** `/actors` and `/documents`: kinds of actors, and the actors of one kind with filters. The address has the filters. */
import type { ActorChart, ActorKind, ActorPage } from '../../../../clients/typescript/batch.d.ts';
import { createElement, findElement, requireElement, setText } from '../../dom.ts';
import { actorRow } from '../actors.ts';
import { getJson, getShared } from '../api.ts';
import { startPage } from '../live-page.ts';
import { unfoldFilters } from '../paged-list.ts';
import { refreshActivity } from '../portal-activity.ts';
import { card, emptyRow, refill, row } from '../state-labels.ts';

/** Kind of the documents page, where it is given. */
const FIXED_KIND = 'document';

let after = '';
let next: string | null = null;
let filledStates = '';

const form = () => requireElement('#filters', HTMLFormElement);

/** Fills the form from the address, and refreshes on changes. */
function startActorList(refresh: () => void): void {
  const given = new URLSearchParams(location.search);
  after = given.get('after') ?? '';
  unfoldFilters(given);
  for (const field of fields()) {
    if (isCheckbox(field)) field.checked = given.get(field.name) === field.value;
    else if (field.name !== 'state' && given.has(field.name)) field.value = given.get(field.name) ?? '';
  }
  const again = () => {
    after = '';
    refresh();
  };
  form().addEventListener('submit', (event) => {
    event.preventDefault();
    again();
  });
  form().addEventListener('change', again);
  requireElement('#first').addEventListener('click', again);
  requireElement('#next').addEventListener('click', () => {
    after = next ?? '';
    refresh();
  });
}

/** Resolves with false for a list of the oldest and for a search: they read many actors, so only the user refreshes them. */
async function refreshActorList(): Promise<boolean> {
  const kind = new FormData(form()).get('kind')?.toString() ?? '';
  const table = findElement('#kinds');
  const states = findElement('#states');
  if (states !== undefined || kind === '') {
    const { kinds } = await getShared<Required<Pick<ActorPage, 'kinds'>>>('/api/actors');
    if (table !== undefined) refill(table, ...[...kinds].sort(byImportance).map(kindRow));
    const own = kinds.find((one) => one.kind === FIXED_KIND);
    if (states !== undefined && own !== undefined)
      refill(states, ...Object.entries(own.states).map(stateCard));
  }
  const section = findElement('#one-kind');
  if (section !== undefined) {
    section.hidden = kind === '';
    requireElement('#all-kinds').hidden = kind !== '';
    requireElement('#kind-title').textContent = `Actors of kind ${kind}`;
  }
  if (kind === '') return true;
  await fillStates(kind);
  const query = new URLSearchParams();
  for (const field of fields()) {
    if (isCheckbox(field) ? field.checked : field.value !== '') query.append(field.name, field.value);
  }
  if (after !== '') query.set('after', after);
  const address = `${location.pathname}?${query}`;
  if (address !== location.pathname + location.search) history.replaceState(undefined, '', address);
  const page = await getShared<ActorPage & Required<Pick<ActorPage, 'items' | 'next'>>>(
    `/api/actors?${query}`,
  );
  next = page.next;
  requireElement('#first', HTMLButtonElement).disabled = after === '';
  requireElement('#next', HTMLButtonElement).disabled = next === null;
  const searched = page.examined === undefined ? '' : `, ${page.examined} searched`;
  const more =
    next === null ? (page.complete === false ? ', of the first 20,000 that match' : '') : ', more follow';
  setText(
    requireElement('#total'),
    `${page.items.length} ${page.items.length === 1 ? 'actor' : 'actors'} on this page${searched}${more}`,
  );
  const rows = page.items.map(actorRow);
  refill(requireElement('#rows'), ...(rows.length > 0 ? rows : [emptyRow(5, 'No actor fits.')]));
  await refreshActivity();
  return query.get('oldest') !== 'true' && !query.has('text');
}

/** Offers the states of the kind once, and selects the one of the address. */
async function fillStates(kind: string): Promise<void> {
  if (filledStates === kind) return;
  filledStates = kind;
  const chart = await getJson<ActorChart>(`/api/actor-kinds/${encodeURIComponent(kind)}`);
  const select = requireElement('#filters select', HTMLSelectElement);
  const options = chart.states.map(({ name }) => createElement('option', { value: name }, name));
  select.replaceChildren(createElement('option', { value: '' }, 'any'), ...options);
  select.value = new URLSearchParams(location.search).get('state') ?? '';
}

/** Kinds with actors that were given up first, those without actors last. */
function byImportance(one: ActorKind, other: ActorKind): number {
  const rank = ({ stopped, count }: ActorKind) => (stopped > 0 ? 0 : count > 0 ? 1 : 2);
  return rank(one) - rank(other);
}

function kindRow({
  kind,
  count,
  states,
  stopped,
  deepestMailbox,
  perSecond,
  lastError,
}: ActorKind): HTMLElement {
  const byState = Object.entries(states).map(([state, many]) =>
    createElement('a', { href: `/actors?${new URLSearchParams({ kind, state })}` }, `${state} ${many}`),
  );
  const given = createElement('a', { href: `/actors?${new URLSearchParams({ kind, stopped: 'true' })}` });
  given.textContent = String(stopped);
  return row(
    createElement('a', { href: `/actors?${new URLSearchParams({ kind })}` }, kind),
    String(count),
    byState.flatMap((link) => [link, ' ']),
    stopped === 0 ? '0' : given,
    String(deepestMailbox),
    perSecond.toFixed(1),
    createElement('td', { class: 'trouble' }, lastError === null ? '' : lastError.message),
  );
}

function stateCard([state, count]: [string, number]): HTMLElement {
  const link = createElement('a', { href: `/documents?${new URLSearchParams({ state })}` }, state);
  return card(link, String(count));
}

type Field = HTMLInputElement | HTMLSelectElement;

function fields(): Field[] {
  return [...document.querySelectorAll<Field>('#filters input, #filters select')];
}

function isCheckbox(field: Field): field is HTMLInputElement {
  return field instanceof HTMLInputElement && field.type === 'checkbox';
}

startPage(refreshActorList, startActorList);
