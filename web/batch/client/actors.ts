/** Rows and links of actors on several pages. */
import { createElement } from '../../client/dom.ts';
import { chip, timeElement } from './state-labels.ts';

/** See `GET /api/actors`. */
export interface ActorSummary {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  readonly mailbox: number;
  readonly stopped: { readonly at: string; readonly error: string } | null;
  readonly trouble: Trouble | null;
  /** Time of the last line of the history, in a list of the oldest. */
  readonly since?: string | null;
}

export interface Trouble {
  readonly do: string;
  readonly dueAt: string;
  readonly failures: number;
  readonly lastError: string | null;
}

export function actorLink(kind: string, id: string, text = id): HTMLElement {
  return createElement('a', { href: `/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}` }, text);
}

export function troubleText({ stopped, trouble }: Pick<ActorSummary, 'stopped' | 'trouble'>): string {
  if (stopped !== null) return `given up: ${stopped.error}`;
  if (trouble === null) return '';
  return `${trouble.do} failed ${trouble.failures} ${trouble.failures === 1 ? 'time' : 'times'}: ${trouble.lastError ?? ''}`;
}

export function actorRow(actor: ActorSummary): HTMLElement {
  const { kind, id, state, revision, mailbox, since } = actor;
  return createElement(
    'tr',
    {},
    createElement('td', {}, actorLink(kind, id)),
    createElement(
      'td',
      {},
      chip(state),
      ...(since === undefined || since === null ? [] : [' since ', timeElement(since)]),
    ),
    createElement('td', {}, String(revision)),
    createElement('td', {}, String(mailbox)),
    createElement('td', { class: 'trouble' }, troubleText(actor)),
  );
}
