/** Rows and links of actors on several pages. */
import type { ActorPage } from '../../../clients/typescript/batch.d.ts';
import { createElement } from '../dom.ts';
import { chip, row, timeElement } from './state-labels.ts';

/** An actor in a list. */
export type ActorSummary = NonNullable<ActorPage['items']>[number];

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
  return row(
    actorLink(kind, id),
    [chip(state), ...(since === undefined || since === null ? [] : [' since ', timeElement(since)])],
    String(revision),
    String(mailbox),
    createElement('td', { class: 'trouble' }, troubleText(actor)),
  );
}
