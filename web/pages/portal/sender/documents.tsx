/**
 * `/account/documents`: the documents of the organization and the drafts, with counts that filter, and a selection with its
 * actions. The server renders it with data and without actions; its script draws it again with both.
 */

import { useContext } from 'preact/hooks';
import type {
  OverviewCounts,
  OverviewItem,
  OverviewKind,
  OverviewPerson,
} from '../../../../actors/portal/api.ts';
import type { DraftItem } from '../../../../contracts/portal/saved-requests/drafts.ts';
import { DOCUMENT_STATUS, LISTED_STATUSES } from '../../../../contracts/portal/words.ts';
import { Button, ButtonLink } from '../../../components/controls.tsx';
import { Icon } from '../../../components/icon.tsx';
import { SelectionBar } from '../../../components/selection.tsx';
import { Avatar, Badge, Card, PageHead, StateOf, Table, Tile } from '../../../components/surfaces.tsx';
import { Clock, Day, Locale, relativeTime, Time } from '../../../components/time.tsx';
import { counted, type EditorScriptTexts, filled, type SenderTexts } from '../texts.ts';
import { FolderOptions } from './folder-options.tsx';

/** Filters as they stand in the address; empty = none. */
export interface ListFilters {
  readonly show: OverviewKind | 'drafts' | '';
  readonly q: string;
  readonly status: string;
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly order: string;
}

/** Steps of an administrator's first visit, each true when it is done. To be signed in is the first. */
export interface FirstSteps {
  readonly logo: boolean;
  readonly colleague: boolean;
  readonly document: boolean;
}

export interface DocumentsData {
  readonly language: string;
  /** Of the address; empty: that of the browser. */
  readonly culture: string;
  /** Time at which it was read, milliseconds. */
  readonly now: number;
  readonly texts: Pick<SenderTexts, 'list' | 'statuses' | 'newDocument'>;
  /** Of failures, for the script. */
  readonly words: Pick<EditorScriptTexts, 'failed' | 'unreachable' | 'signedOut' | 'refusals'>;
  readonly filters: ListFilters;
  readonly counts: OverviewCounts;
  readonly items: readonly OverviewItem[];
  readonly totalCount: number;
  /** The newest. */
  readonly drafts: readonly (Pick<DraftItem, 'id' | 'name' | 'updateDate'> & {
    /** True when rights on its folder permit it. */
    readonly mayChange: boolean;
  })[];
  readonly draftsCount: number;
  readonly folders: readonly { readonly id: string; readonly name: string }[];
  /** True when the role of the user permits to make and change documents. */
  readonly maySend: boolean;
  /** True when the user may change who has which right on the folder of the filter. */
  readonly mayGrant: boolean;
  /** Query of the next page; null: there is none. */
  readonly next: string | null;
  readonly isFirst: boolean;
  /** Undefined: none are left. */
  readonly firstSteps: FirstSteps | undefined;
  readonly formToken: string;
}

export type RowAction = 'remind' | 'cancel' | 'move' | 'download';

export type RowResult =
  | { readonly state: 'waiting' }
  | { readonly state: 'done'; readonly action: RowAction }
  | { readonly state: 'refused'; readonly text: string };

export interface RowSelection {
  readonly ids: ReadonlySet<string>;
  readonly results: ReadonlyMap<string, RowResult>;
  /** Undefined: nothing runs. Otherwise what is awaited. */
  readonly running: string | undefined;
}

export interface DocumentsActions {
  act(action: RowAction): void;
  /** Shows who has which right on the folder. */
  grant(): void;
  select(ids: readonly string[], isSelected: boolean): void;
  selectNone(): void;
}

const DAY_MS = 86_400_000;
/** A last day within this time is marked. */
const EXPIRY_WARNING_MS = 7 * DAY_MS;
/** People whose letters a row shows. */
const AVATARS = 4;
const NOTHING: RowSelection = { ids: new Set(), results: new Map(), running: undefined };

export function DocumentsView({
  data,
  selection = NOTHING,
  actions,
}: {
  data: DocumentsData;
  selection?: RowSelection | undefined;
  actions?: DocumentsActions | undefined;
}) {
  const { texts, filters, items, next, isFirst } = data;
  const { list } = texts;
  return (
    <>
      <PageHead title={list.title}>
        {data.mayGrant && (
          <Button
            id="folder-access"
            icon="users"
            disabled={actions === undefined}
            onClick={() => actions?.grant()}
          >
            {list.rights.open}
          </Button>
        )}
        <Find data={data} />
      </PageHead>
      {data.firstSteps !== undefined && <Begin data={data} steps={data.firstSteps} />}
      <Tiles data={data} />
      <Filters data={data} />
      {filters.show === 'drafts' ? (
        <Drafts data={data} />
      ) : items.length === 0 ? (
        <Nothing data={data} />
      ) : (
        <div class="card">
          <Rows data={data} selection={selection} actions={actions} />
        </div>
      )}
      {(next !== null || !isFirst) && (
        <p class="ways">
          {!isFirst && <ButtonLink href={addressOf(data, {})}>{list.first}</ButtonLink>}
          {next !== null && <ButtonLink href={`/account/documents?${next}`}>{list.next}</ButtonLink>}
        </p>
      )}
      <Actions data={data} selection={selection} actions={actions} />
    </>
  );
}

/** First steps of an administrator, ticked as they are done. */
function Begin({ data, steps }: { data: DocumentsData; steps: FirstSteps }) {
  const { texts, formToken } = data;
  const { setup } = texts.list;
  const language = languageOf(data);
  const links = [
    { name: 'you', isDone: true, href: '/account' },
    { name: 'logo', isDone: steps.logo, href: '/organization/branding' },
    { name: 'colleague', isDone: steps.colleague, href: '/organization/users' },
    { name: 'document', isDone: steps.document, href: '/account/documents/new' },
  ] as const;
  return (
    <nav class="card first-steps" aria-label={setup.title}>
      <strong>{setup.title}</strong>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ol role="list">
        {links.map(({ name, isDone, href }) => (
          <li key={name} class={isDone ? 'done' : undefined}>
            <Icon name={isDone ? 'circle-check' : 'circle'} />
            {isDone ? (
              <span>
                {setup[name]} <span class="muted small">{setup.done}</span>
              </span>
            ) : (
              <a href={`${href}${language}`}>{setup[name]}</a>
            )}
            {name === 'document' && !isDone && (
              <form method="post" action={`/account/documents/sample${language}`}>
                <input type="hidden" name="formToken" value={formToken} />
                <Button type="submit">{setup.sample}</Button>
              </form>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function languageOf({ culture }: DocumentsData): string {
  return culture === '' ? '' : `?culture=${culture}`;
}

/** Address of the list with other filters. */
function addressOf({ filters, culture }: DocumentsData, change: Partial<ListFilters>): string {
  const given = Object.entries({ ...filters, ...change, culture }).filter(([, value]) => value !== '');
  return `/account/documents${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

const UNFILTERED = { show: '', q: '', status: '', folder: '', from: '', to: '', order: '' } as const;

function Tiles({ data }: { data: DocumentsData }) {
  const { counts, texts, filters, language } = data;
  const { kinds, soon } = texts.list;
  return (
    <nav class="tiles counts" aria-label={texts.list.title}>
      {(['mine', 'others', 'concluded', 'ended'] as const).map((kind) => (
        <Tile
          key={kind}
          href={addressOf(data, { ...UNFILTERED, show: filters.show === kind ? '' : kind })}
          name={kinds[kind]}
          figure={counts[kind]}
          isCurrent={filters.show === kind}
          {...(kind === 'others' &&
            counts.soon > 0 && {
              note: <span class="warn-text">{counted(language, soon, counts.soon)}</span>,
            })}
        />
      ))}
    </nav>
  );
}

function Find({ data: { filters, culture, texts } }: { data: DocumentsData }) {
  const { list } = texts;
  return (
    <form method="get" action="/account/documents" class="find-documents" role="search">
      {Object.entries({ ...filters, culture }).map(
        ([name, value]) =>
          name !== 'q' && value !== '' && <input key={name} type="hidden" name={name} value={value} />,
      )}
      <input
        name="q"
        type="search"
        maxLength={200}
        defaultValue={filters.q}
        placeholder={list.search}
        aria-label={list.search}
        aria-keyshortcuts="/"
      />
      <Button type="submit" icon="search" label={list.find} />
    </form>
  );
}

/** Chips of the filters in force, each with a link that removes it, and the form with all of them. */
function Filters({ data }: { data: DocumentsData }) {
  const { texts, filters, culture, folders, language, totalCount } = data;
  const { list, statuses } = texts;
  const { show, q, status, folder, from, to, order } = filters;
  const chips = [
    ['show', show === '' ? '' : list.kinds[show]],
    ['q', q],
    ['status', status === '' ? '' : ((statuses as { readonly [name: string]: string })[status] ?? status)],
    ['folder', folder === '' ? '' : (folders.find(({ id }) => id === folder)?.name ?? list.folder)],
    ['from', from === '' ? '' : `${list.from} ${from}`],
    ['to', to === '' ? '' : `${list.to} ${to}`],
    ['order', order === '' ? '' : list.orders[order === 'Asc' ? 'Asc' : 'Desc']],
  ].filter(([, text]) => text !== '') as [keyof ListFilters, string][];
  return (
    <div class="chips">
      {chips.map(([name, text]) => (
        <a
          key={name}
          class="button chip"
          aria-current="true"
          href={addressOf(data, { [name]: '' })}
          aria-label={filled(list.clear, { name: text })}
        >
          <bdi>{text}</bdi>
          <Icon name="x" size="s" />
        </a>
      ))}
      <details class="more-filters">
        <summary class="button chip">{list.filters}</summary>
        <form method="get" action="/account/documents" class="filters">
          {culture !== '' && <input type="hidden" name="culture" value={culture} />}
          {show !== '' && <input type="hidden" name="show" value={show} />}
          {folders.length > 0 && (
            <label>
              {list.folder}
              <select name="folder">
                <option value="">{list.kinds.all}</option>
                <FolderOptions folders={folders} chosen={folder} more={list.moreFolders} />
              </select>
            </label>
          )}
          <label>
            {list.status}
            <select name="status">
              <option value="">{list.kinds.all}</option>
              {LISTED_STATUSES.map((one) => (
                <option value={one} selected={one === status}>
                  {statuses[one]}
                </option>
              ))}
            </select>
          </label>
          <label>
            {list.from}
            <input name="from" type="date" defaultValue={from} />
          </label>
          <label>
            {list.to}
            <input name="to" type="date" defaultValue={to} />
          </label>
          <label>
            {list.order}
            <select name="order">
              <option value="">{list.orders.Desc}</option>
              <option value="Asc" selected={order === 'Asc'}>
                {list.orders.Asc}
              </option>
            </select>
          </label>
          {q !== '' && <input type="hidden" name="q" value={q} />}
          <Button type="submit">{list.apply}</Button>
          <ButtonLink href={addressOf(data, UNFILTERED)}>{list.reset}</ButtonLink>
        </form>
      </details>
      {show !== 'drafts' && (
        <p class="muted small total" role="status">
          {counted(language, list.total, totalCount)}
        </p>
      )}
    </div>
  );
}

function Nothing({ data }: { data: DocumentsData }) {
  const { texts, counts, filters } = data;
  const { list } = texts;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  if (isFiltered || counts.all > 0)
    return (
      <Card>
        <StateOf icon="inbox" title={filters.show === 'mine' ? list.noMine : list.none}>
          <ButtonLink href={addressOf(data, UNFILTERED)}>{list.reset}</ButtonLink>
        </StateOf>
      </Card>
    );
  return (
    <Card>
      <StateOf icon="inbox" title={list.noneYet}>
        {data.maySend && (
          <>
            <p class="muted">{list.noneYetText}</p>
            <ButtonLink href="/account/documents/new" icon="plus">
              {texts.newDocument}
            </ButtonLink>
          </>
        )}
      </StateOf>
    </Card>
  );
}

function Rows({
  data,
  selection,
  actions,
}: {
  data: DocumentsData;
  selection: RowSelection;
  actions: DocumentsActions | undefined;
}) {
  const { items, texts } = data;
  const { list } = texts;
  const ids = items.map(({ id }) => id);
  const areAll = ids.every((id) => selection.ids.has(id));
  const isBusy = actions === undefined || selection.running !== undefined;
  const expiry = data.filters.show === 'expiring' ? '' : 'expiring';
  return (
    <Table
      id="rows"
      cards
      caption={list.title}
      heads={[
        <input
          type="checkbox"
          aria-label={list.selectAll}
          checked={areAll}
          disabled={isBusy}
          onChange={() => actions?.select(ids, !areAll)}
        />,
        list.document,
        list.people,
        list.waitingFor,
        <a href={addressOf(data, { show: expiry, status: '', from: '', to: '', order: '' })}>
          {list.expires}
        </a>,
        list.changed,
      ]}
      rows={items.map((item) => {
        const isSelected = selection.ids.has(item.id);
        const language = languageOf(data);
        return {
          key: item.id,
          cells: [
            <input
              type="checkbox"
              aria-label={filled(list.select, { name: item.name })}
              checked={isSelected}
              disabled={isBusy}
              onChange={() => actions?.select([item.id], !isSelected)}
            />,
            <>
              <a class="name" href={`/account/documents/${item.id}${language}`}>
                <bdi>{item.name}</bdi>
              </a>
              <div class="muted small">
                <bdi>{item.folder === null ? item.creator : `${item.folder} · ${item.creator}`}</bdi>
              </div>
              <ResultOf result={selection.results.get(item.id)} texts={list} />
            </>,
            <People people={item.people} texts={list} />,
            <Waiting item={item} data={data} />,
            <LastDay item={item} />,
            <span class="muted">
              <Time at={new Date(item.updateDate).toISOString()} />
            </span>,
          ],
        };
      })}
    />
  );
}

function ResultOf({ result, texts }: { result: RowResult | undefined; texts: SenderTexts['list'] }) {
  if (result === undefined) return null;
  if (result.state === 'refused') return <div class="small fault">{result.text}</div>;
  return (
    <div class="small muted">{result.state === 'waiting' ? texts.waiting : texts.rowDone[result.action]}</div>
  );
}

function shownName({ name, deputy }: OverviewPerson, texts: SenderTexts['list']): string {
  return deputy === null ? name : filled(texts.byDeputy, { deputy, person: name });
}

function People({ people, texts }: { people: readonly OverviewPerson[]; texts: SenderTexts['list'] }) {
  const done = people.filter(({ state }) => state === 'done').length;
  return (
    <div class="row how-far" title={people.map((person) => shownName(person, texts)).join('; ')}>
      <span class="avatars">
        {people.slice(0, AVATARS).map(({ name, state }) => (
          <Avatar name={name} done={state === 'done'} />
        ))}
      </span>
      <span class="muted small">{filled(texts.progress, { done, count: people.length })}</span>
    </div>
  );
}

/** Whom it waits for, and what that person has done with it; of documents that wait for nobody, their state. */
function Waiting({ item, data }: { item: OverviewItem; data: DocumentsData }) {
  const { list, statuses } = data.texts;
  const now = useContext(Clock);
  const locale = useContext(Locale);
  const waiting = item.people.filter(({ state }) => state === 'waiting');
  const [first] = waiting;
  if (first === undefined)
    return <Badge tone={DOCUMENT_STATUS[item.status].tone}>{statuses[item.status]}</Badge>;
  const { name, opened, isMailReturned } = first;
  const days = opened === null ? 0 : Math.floor(now / DAY_MS) - Math.floor(opened / DAY_MS);
  const when = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-days, 'day');
  return (
    <>
      <bdi>{name}</bdi>
      {waiting.length > 1 && (
        <span class="muted small"> {counted(data.language, list.more, waiting.length - 1)}</span>
      )}
      <div class={isMailReturned ? 'small fault' : 'small muted'}>
        {isMailReturned
          ? list.mailReturned
          : opened === null
            ? list.notOpened
            : filled(list.opened, { when })}
      </div>
    </>
  );
}

/** A close one as a distance. */
function LastDay({ item: { expirationDate, status } }: { item: OverviewItem }) {
  const now = useContext(Clock);
  const locale = useContext(Locale);
  if (expirationDate === null) return null;
  const day = <Day at={new Date(expirationDate).toISOString()} />;
  const left = expirationDate - now;
  if (status !== 'Pending' || left > EXPIRY_WARNING_MS || left < 0) return <span class="muted">{day}</span>;
  // Whole days: a last day ends with its last moment, and in the morning that is nearly a day more.
  const whole = left < DAY_MS ? left : left - (left % DAY_MS);
  return (
    <>
      <Badge tone="warn">{relativeTime(whole, locale)}</Badge>
      <div class="small muted">{day}</div>
    </>
  );
}

function Actions({
  data: { texts, language, items, maySend },
  selection: { ids, results, running },
  actions,
}: {
  data: DocumentsData;
  selection: RowSelection;
  actions: DocumentsActions | undefined;
}) {
  const { list } = texts;
  const of = (state: RowResult['state']) => [...results.values()].filter((one) => one.state === state).length;
  const outcome = filled(list.result, { done: of('done'), refused: of('refused') });
  const selected = ids.size === 0 ? '' : counted(language, list.selected, ids.size);
  const isIdle = running === undefined && ids.size > 0;
  const isReadOnly = items.every(({ id, mayChange }) => !mayChange || !ids.has(id));
  const button = (action: RowAction, icon: 'bell' | 'download' | 'folder-input' | 'ban') => (
    <Button
      id={`${action}-selected`}
      icon={icon}
      aria-disabled={!isIdle || (isReadOnly && action !== 'download')}
      title={ids.size > 0 && isReadOnly && action !== 'download' ? list.readOnly : undefined}
      onClick={() => actions?.act(action)}
    >
      {list[action]}
    </Button>
  );
  return (
    <SelectionBar
      label={list.selectionLabel}
      clear={list.clearSelection}
      text={running ?? (results.size > 0 ? outcome : selected)}
      onClear={() => actions?.selectNone()}
    >
      {maySend && button('remind', 'bell')}
      {button('download', 'download')}
      {maySend && button('move', 'folder-input')}
      {maySend && button('cancel', 'ban')}
    </SelectionBar>
  );
}

function Drafts({ data }: { data: DocumentsData }) {
  const { drafts, texts, formToken, maySend } = data;
  const { list } = texts;
  const language = languageOf(data);
  if (drafts.length === 0)
    return (
      <Card>
        <StateOf icon="pen-line" title={list.noDrafts}>
          {maySend && (
            <ButtonLink href="/account/documents/new" icon="plus">
              {texts.newDocument}
            </ButtonLink>
          )}
        </StateOf>
      </Card>
    );
  return (
    <Card label={list.kinds.drafts}>
      <Table
        cards
        caption={list.kinds.drafts}
        heads={[list.document, list.changed, '']}
        rows={drafts.map(({ id, name, updateDate, mayChange }) => ({
          key: id,
          cells: [
            // The editor saves what it shows.
            maySend && mayChange ? (
              <a class="name" href={`/account/documents/drafts/${id}${language}`}>
                <bdi>{name}</bdi>
              </a>
            ) : (
              <bdi>{name}</bdi>
            ),
            <span class="muted">
              <Time at={new Date(updateDate).toISOString()} />
            </span>,
            maySend && mayChange && (
              <form method="post" action={`/account/documents/drafts/${id}/remove${language}`}>
                <input type="hidden" name="formToken" value={formToken} />
                <Button
                  type="submit"
                  rank="quiet"
                  icon="trash-2"
                  label={filled(list.removeDraft, { name })}
                />
              </form>
            ),
          ],
        }))}
      />
    </Card>
  );
}
