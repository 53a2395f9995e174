/** Parts of several operator pages: states, links, rows, filters and paging. */

import type { ComponentChildren } from 'preact';
import type { ActorPage } from '../../../clients/typescript/batch.d.ts';
import { FOLDER_TONES, HEALTH_TONES } from '../../../contracts/batch/component-states.ts';
import { JOB_STATE, type JobState } from '../../../contracts/batch/words.ts';
import { DELIVERY_TONES, MAIL_TONES } from '../../../contracts/deliveries.ts';
import type { Tone } from '../../../contracts/tone.ts';
import { Button } from '../../components/controls.tsx';
import { Badge } from '../../components/surfaces.tsx';

/** An actor in a list. */
export type ActorSummary = NonNullable<ActorPage['items']>[number];

/** Properties of a page or its part: what its script has read, and what its buttons do. The server has neither. */
export interface View<Data, Actions = never> {
  readonly data?: Data | undefined;
  readonly actions?: Actions | undefined;
}

/** Of a list, whose address has filters. */
export interface ListView<Data, Actions> extends View<Data, Actions> {
  readonly query?: URLSearchParams;
}

/** A page of a list of the API. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
}

/** Of actors of other kinds, of nodes, and words of pages. */
const OTHER_TONES: { readonly [state: string]: Tone } = {
  Concluded: 'good',
  Valid: 'good',
  'Expires soon': 'warn',
  Expired: 'bad',
  'Given up': 'bad',
  Lost: 'bad',
  Draining: 'warn',
  Missing: 'bad',
  Paused: 'warn',
  Held: 'bad',
};

/** Words of people for spellings of the API that are none. */
const WORDS: { readonly [spelling: string]: string } = {
  AwaitingSigner: 'Awaiting a signer',
  Pades: 'PAdES',
  Cades: 'CAdES',
  Xades: 'XAdES',
  Watcher: 'Input folder',
};

export function worded(spelling: string): string {
  return WORDS[spelling] ?? spelling;
}

export function JobStatus({ of }: { of: JobState }) {
  const { tone } = JOB_STATE[of];
  return <Badge {...(tone !== undefined && { tone })}>{worded(of)}</Badge>;
}

/** @param children more about the state */
export function State({ of, children }: { of: string; children?: ComponentChildren }) {
  const tones: { readonly [state: string]: Tone | null } = {
    ...OTHER_TONES,
    ...DELIVERY_TONES,
    ...MAIL_TONES,
    ...HEALTH_TONES,
    ...FOLDER_TONES,
  };
  const tone = JOB_STATE[of as JobState]?.tone ?? tones[of];
  return (
    <Badge {...(tone != null && { tone })}>
      {worded(of)}
      {children}
    </Badge>
  );
}

export function JobLink({ id, children }: { id: string; children: ComponentChildren }) {
  return <a href={`/jobs/${encodeURIComponent(id)}`}>{children}</a>;
}

export function ActorLink({
  kind,
  id,
  children = id,
}: {
  kind: string;
  id: string;
  children?: ComponentChildren;
}) {
  return <a href={`/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`}>{children}</a>;
}

export function troubleText({ stopped, trouble }: Pick<ActorSummary, 'stopped' | 'trouble'>): string {
  if (stopped !== null) return `given up: ${stopped.error}`;
  if (trouble === null) return '';
  return `${trouble.do} failed ${counted(trouble.failures, 'time', 'times')}: ${trouble.lastError ?? ''}`;
}

/** Cause of failed jobs and advice, in words for people. @param remedy of their code */
export function causeOf(remedy: string | null): { readonly cause: string; readonly advice: string } {
  const [, cause = 'They have a cause of their own.', advice = ''] =
    /^(.*?\.)(?: (.*))?$/s.exec(remedy ?? '') ?? [];
  return { cause, advice };
}

/** Text about a fault; none leaves its place empty, so that cards have no line for it. */
export function Trouble({ children }: { children: ComponentChildren }) {
  return children === '' || children === undefined ? null : <span class="trouble-text">{children}</span>;
}

/** Actions of a list page. */
export interface ListActions {
  /** The form has changed: the list is read again. @param later the person still types */
  filter(form: HTMLFormElement, later: boolean): void;
  clear(): void;
  turn(page: number): void;
}

/** Filters of a list, which the address keeps. On narrow screens they fold, also without a script. */
export function Filters({
  query,
  actions,
  foldable = false,
  isOpen = false,
  children,
}: {
  query: URLSearchParams;
  actions?: Pick<ListActions, 'filter'> | undefined;
  foldable?: boolean;
  /** The address has filters. */
  isOpen?: boolean;
  children: ComponentChildren;
}) {
  const changed = (event: Event, later: boolean) => {
    event.preventDefault();
    actions?.filter(event.currentTarget as HTMLFormElement, later);
  };
  const kind = query.get('kind');
  return (
    <>
      {foldable && (
        <details class="fold" id="fold" open={isOpen}>
          <summary>Filters</summary>
        </details>
      )}
      <form
        id="filters"
        class="filters"
        onInput={(event) => changed(event, true)}
        onChange={(event) => changed(event, false)}
        onSubmit={(event) => changed(event, false)}
      >
        {kind !== null && <input type="hidden" name="kind" value={kind} />}
        {children}
      </form>
    </>
  );
}

/** A field of the filters, which has its value from the address. */
interface Filter {
  readonly label: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

export function Choice({
  label,
  name,
  query,
  options,
  none = 'any',
}: Filter & { options: readonly string[]; none?: string }) {
  return (
    <label>
      {label}{' '}
      <select name={name} value={query.get(name) ?? ''}>
        <option value="">{none}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A text or a day. */
export function Entry({
  label,
  name,
  query,
  type = 'search',
  placeholder,
  isUnseen = false,
}: Filter & { type?: 'search' | 'text' | 'date'; placeholder?: string; isUnseen?: boolean }) {
  return (
    <label>
      <span class={isUnseen ? 'unseen' : undefined}>{label}</span>{' '}
      <input
        name={name}
        type={type}
        value={query.get(name) ?? ''}
        placeholder={placeholder}
        maxLength={type === 'date' ? undefined : 200}
      />
    </label>
  );
}

export function Tick({ label, name, value = 'true', query }: Filter & { value?: string }) {
  return (
    <label class="tick">
      <input type="checkbox" name={name} value={value} checked={query.getAll(name).includes(value)} /> {label}
    </label>
  );
}

/** Number of entries, and the buttons of the pages. */
export function Total({
  list,
  one,
  many,
}: {
  list: ListPage<unknown> | undefined;
  one: string;
  many: string;
}) {
  return (
    <p id="total" class="muted" role="status">
      {list && `${counted(list.totalCount, one, many)}, page ${list.page} of ${pagesOf(list)}`}
    </p>
  );
}

export function Paging({
  list,
  actions,
}: {
  list: ListPage<unknown> | undefined;
  actions: Pick<ListActions, 'turn'> | undefined;
}) {
  const page = list?.page ?? 1;
  return (
    <p class="ways">
      <Button id="previous" disabled={page <= 1} onClick={() => actions?.turn(page - 1)}>
        Previous
      </Button>
      <Button
        id="next"
        disabled={list === undefined || page >= pagesOf(list)}
        onClick={() => actions?.turn(page + 1)}
      >
        Next
      </Button>
    </p>
  );
}

function pagesOf({ totalCount, pageSize }: ListPage<unknown>): number {
  return Math.max(1, Math.ceil(totalCount / pageSize));
}

export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
