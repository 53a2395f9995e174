/** Components that show facts: badges, cards, tables, people, progress, and what stands in the place of data. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'info';

export function Badge({ tone, children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={tone === undefined ? 'badge' : `badge ${tone}`}>{children}</span>;
}

/** @param aside at the end of the header, such as a badge or an action */
export function Card({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** A number with its name, as a link to the list behind it. */
export function Tile({
  href,
  name,
  figure,
  note,
}: {
  readonly href: string;
  readonly name: string;
  readonly figure: string;
  readonly note?: string | undefined;
}) {
  return (
    <a class="tile" href={href}>
      <span class="muted">{name}</span>
      <b>{figure}</b>
      {note && <span class="muted small">{note}</span>}
    </a>
  );
}

/** A table that scrolls by itself on narrow screens. */
export function Table({
  caption,
  heads,
  rows,
}: {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}) {
  return (
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** First letters of a name. The name stands beside it. */
export function Avatar({ name, done = false }: { readonly name: string; readonly done?: boolean }) {
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

export function Progress({
  done,
  of,
  label,
}: {
  readonly done: number;
  readonly of: number;
  readonly label: string;
}) {
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
  readonly icon: IconName;
  readonly tone?: 'good' | 'bad' | undefined;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly level?: 'h1' | 'h2';
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
export function Skeleton({ lines, label }: { readonly lines: number; readonly label: string }) {
  return (
    <div class="stack" role="status" aria-label={label}>
      {Array.from({ length: lines }, () => (
        <span class="skeleton" />
      ))}
    </div>
  );
}

/** @param about heading level 1 stands in the content; the mark is decoration */
export function Brandmark({ name }: { readonly name: string }) {
  return (
    <p class="brandmark">
      <span class="logo-mark">
        <Icon name="feather" />
      </span>
      {name}
    </p>
  );
}
