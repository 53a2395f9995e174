/** Components that show facts: badges, cards, tables, people, progress, and what stands in the place of data. */

import type { ComponentChildren } from 'preact';
import type { Tone } from '../../contracts/tone.ts';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

export function Badge({ tone, children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={tone === undefined ? 'badge' : `badge ${tone}`}>{children}</span>;
}

/** A name in which a line may end where words do that underscores join. */
export function BreakableName({ name }: { name: string }) {
  const words = name.split(/(?<=_)/);
  return (
    <bdi>
      {words.map((word, index) => (
        <>
          {index > 0 && <wbr />}
          {word}
        </>
      ))}
    </bdi>
  );
}

/** @param aside at the end of the header, such as a badge or an action */
export function Card({
  title,
  label,
  aside,
  hasBody = false,
  children,
}: {
  /** Absent where the header has something else. */
  title?: ComponentChildren;
  /** Name of the region. @default none */
  label?: string;
  aside?: ComponentChildren;
  /** The content has a margin, which a table has not. @default false */
  hasBody?: boolean;
  children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={label}>
      {(title !== undefined || aside !== undefined) && (
        <header>
          {title !== undefined && <h2>{title}</h2>}
          {aside}
        </header>
      )}
      {hasBody ? <div class="body">{children}</div> : children}
    </section>
  );
}

/** Title of a page with what belongs to it: the list before it, its state beside it, its actions at the end. */
export function PageHead({
  title,
  id,
  from,
  state,
  children,
}: {
  title: ComponentChildren;
  id?: string;
  /** List that the page belongs to. */
  from?: { readonly href: string; readonly text: string };
  state?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div class="row">
        {from && (
          <>
            <a class="small" href={from.href}>
              {from.text}
            </a>
            <span class="muted" aria-hidden="true">
              /
            </span>
          </>
        )}
        <h1 id={id}>{title}</h1>
        {state}
      </div>
      {children && <div class="ways">{children}</div>}
    </div>
  );
}

/** A number with its name; with an address, a link to the list behind it. */
export function Tile({
  href,
  name,
  figure,
  note,
  isCurrent = false,
  children,
}: {
  href?: string;
  name: string;
  figure: ComponentChildren;
  note?: ComponentChildren;
  /** The list behind it is shown. */
  isCurrent?: boolean;
  children?: ComponentChildren;
}) {
  const content = (
    <>
      <span class="muted small">{name}</span>
      <b>{figure}</b>
      {note !== undefined && <span class="muted small">{note}</span>}
      {children}
    </>
  );
  return href === undefined ? (
    <div class="tile">{content}</div>
  ) : (
    <a class="tile" href={href} aria-current={isCurrent ? 'true' : undefined}>
      {content}
    </a>
  );
}

/** Name of a column that sorts the rows. */
export interface SortHead {
  readonly name: string;
  /** Undefined: another column sorts. */
  readonly sorted?: 'ascending' | 'descending' | undefined;
  onSort(): void;
}

function isSortHead(head: ComponentChildren | SortHead): head is SortHead {
  return typeof head === 'object' && head !== null && 'onSort' in head;
}

/** A row of a table: its cells, and a key that stays with what it shows. */
export interface TableRow {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

/**
 * A table that scrolls by itself on narrow screens.
 *
 * @param rows undefined: they are being loaded; @param empty in place of rows when there are none
 */
export function Table({
  id,
  caption,
  heads,
  rows,
  empty,
  cards = false,
  actions = false,
}: {
  id?: string;
  caption: string;
  heads: readonly (ComponentChildren | SortHead)[];
  rows: readonly TableRow[] | undefined;
  empty?: ComponentChildren;
  /** On narrow screens each row is a card, in place of scrolling; `named`: with the names of its columns. */
  cards?: boolean | 'named';
  /** The last column has actions, which stay in view. */
  actions?: boolean;
}) {
  // Browsers take the roles of a table from elements that are shown as something else.
  const kept = (role: 'table' | 'row' | 'cell') => (cards ? { role } : undefined);
  return (
    <section
      class={['scroll', cards && 'cards', cards === 'named' && 'named', actions && 'with-actions']
        .filter(Boolean)
        .join(' ')}
      aria-label={caption}
      tabIndex={0}
      aria-busy={rows === undefined ? 'true' : undefined}
    >
      <table {...kept('table')}>
        <thead>
          <tr>
            {heads.map((head) =>
              isSortHead(head) ? (
                <th scope="col" aria-sort={head.sorted ?? 'none'}>
                  <button type="button" class="sort" onClick={head.onSort}>
                    {head.name}
                    {head.sorted && (
                      <Icon name={head.sorted === 'ascending' ? 'arrow-up' : 'arrow-down'} size="s" />
                    )}
                  </button>
                </th>
              ) : (
                <th scope="col">{head}</th>
              ),
            )}
          </tr>
        </thead>
        <tbody id={id}>
          {rows === undefined
            ? ['1', '2', '3'].map((key) => (
                <tr key={`loading ${key}`}>
                  {heads.map(() => (
                    <td>
                      <span class="skeleton" />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map(({ key, cells }) => (
                <tr key={key} {...kept('row')}>
                  {cells.map((cell, index) => {
                    const given = heads[index];
                    const head = isSortHead(given) ? given.name : given;
                    return (
                      <td
                        data-head={cards === 'named' && typeof head === 'string' ? head : undefined}
                        {...kept('cell')}
                      >
                        {cell}
                      </td>
                    );
                  })}
                </tr>
              ))}
          {rows?.length === 0 && (
            <tr key="empty">
              <td class="muted" colSpan={heads.length}>
                {empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

/** A button that shows more below it; it works without a script, with one Escape and a click elsewhere close it. */
export function Drop({
  id,
  name,
  icon,
  isNamed = true,
  children,
}: {
  id?: string;
  name: string;
  icon?: IconName;
  /** False: the icon stands alone. @default true */
  isNamed?: boolean;
  children: ComponentChildren;
}) {
  return (
    <details class="pulldown" id={id}>
      <summary class={isNamed ? 'button' : 'button square'} aria-label={isNamed ? undefined : name}>
        {icon && <Icon name={icon} />}
        {isNamed && name}
      </summary>
      <div class="pulled">{children}</div>
    </details>
  );
}

/** Names with their values. @param pairs undefined: they are being loaded */
export function Facts({
  id,
  pairs,
}: {
  id?: string;
  pairs: readonly (readonly [name: string, value: ComponentChildren])[] | undefined;
}) {
  if (pairs === undefined) return <Skeleton lines={4} label="The facts are being loaded." />;
  return (
    <dl class="facts" id={id}>
      {pairs.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** First letters of a name. The name stands beside it. */
export function Avatar({ name, done = false }: { name: string; done?: boolean }) {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : '']
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('');
  return (
    <span class={done ? 'avatar done' : 'avatar'} aria-hidden="true">
      {letters.toUpperCase()}
    </span>
  );
}

export function Progress({ done, of, label }: { done: number; of: number; label: string }) {
  return <progress class="progress" value={done} max={Math.max(of, 1)} aria-label={label} />;
}

/** Stands where data would be: nothing there yet, a failure, or an end. It says what happened and what to do. */
export function StateOf({
  icon,
  tone,
  title,
  children,
  level = 'h2',
}: {
  icon: IconName;
  tone?: 'good' | 'bad' | undefined;
  title: string;
  children?: ComponentChildren;
  level?: 'h1' | 'h2';
}) {
  const Heading = level;
  return (
    <div class={tone === undefined ? 'state-of' : `state-of ${tone}`}>
      <Icon name={icon} size="l" />
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

/** Place of data that is loading, in the layout of the data. */
export function Skeleton({ lines, label }: { lines: number; label: string }) {
  return (
    <div class="stack" role="status" aria-label={label}>
      {Array.from({ length: lines }, () => (
        <span class="skeleton" />
      ))}
    </div>
  );
}

/** Name of the product with its mark, which is decoration. */
export function Brandmark({ name }: { name: string }) {
  return (
    <p class="brandmark">
      <span class="logo-mark">
        <Icon name="feather" />
      </span>
      {name}
    </p>
  );
}
