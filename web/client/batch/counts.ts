/** Counts beside the links of the navigation: entries, or what failed and waits for a person. */
import type {
  ActorPage,
  PortalWebhookOrganizations,
  WebhookDeliveryList,
} from '../../../clients/typescript/batch.d.ts';
import { createElement, currentTime, findElement } from '../dom.ts';
import { getServed, getShared } from './api.ts';

const short = new Intl.NumberFormat('en-GB', { notation: 'compact' });

/** Shortest time between two reads, milliseconds: a busy service changes each second. */
const PAUSE_MS = 5000;
let readAt = Number.NEGATIVE_INFINITY;

/**
 * Reads them as of the version that the page shows; see `setVersion`. Earlier ones stay where they cannot be read.
 * @param isPaced false: after an action, for example
 */
export async function showCounts(isPaced: boolean): Promise<void> {
  if (isPaced && currentTime() - readAt < PAUSE_MS) return;
  readAt = currentTime();
  try {
    const [{ kinds = [] }, calls, portal] = await Promise.all([
      getShared<ActorPage>('/api/actors'),
      getShared<WebhookDeliveryList>('/api/webhooks/deliveries?status=Failed&pageSize=1'),
      getServed<PortalWebhookOrganizations>('/api/webhooks/portal'),
    ]);
    const of = (name: string) => kinds.find(({ kind }) => kind === name);
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    show('/jobs', of('job')?.count ?? 0);
    show('/failures', of('job')?.states['Failed'] ?? 0, 'failed');
    show('/mails', of('mail')?.states['Failed'] ?? 0, 'not sent');
    show('/webhooks', calls.totalCount + sum((portal?.items ?? []).map(({ failed }) => failed)), 'failed');
    show('/actors', sum(kinds.map(({ stopped }) => stopped)), 'given up');
  } catch {
    // The page itself says that the service cannot be reached.
  }
}

/** @param trouble what happened to the entries; absent: nothing */
function show(href: string, count: number, trouble?: string): void {
  const link = findElement(`nav a[href="${href}"]`);
  if (link === undefined) return;
  findElement('.count', HTMLElement, link)?.remove();
  if (count === 0) return;
  const look = trouble === undefined ? 'count small' : 'count badge bad';
  const meaning = trouble === undefined ? [] : [createElement('span', { class: 'unseen' }, ` ${trouble}`)];
  link.append(
    createElement(
      'span',
      { class: look, title: count.toLocaleString('en-GB') },
      short.format(count),
      ...meaning,
    ),
  );
}
