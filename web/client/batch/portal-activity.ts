/** Charts of the portal on `/documents`: documents, webhook deliveries and e-mails of the last 24 hours. One request. */
import type { PortalActivity } from '../../../clients/typescript/batch.d.ts';
import { findElement, requireElement } from '../dom.ts';
import { getShared } from './api.ts';
import { showChart } from './series-chart.ts';

/** Refreshes between two updates of the charts, which change slowly. */
const CHARTS_EVERY = 12;

let refreshes = 0;

/** Does nothing on a page without these charts. */
export async function refreshActivity(): Promise<void> {
  if (findElement('#chart-documents') === undefined) return;
  if (refreshes % CHARTS_EVERY !== 0) {
    refreshes += 1;
    return;
  }
  const { documents, webhooks, mails, incomplete, ...series } = await getShared<PortalActivity>(
    '/api/portal/activity?window=24h&intervals=24',
  );
  const created = documents.created.reduce((sum, count) => sum + count, 0);
  const charts = [
    [
      'documents',
      documents.concluded,
      documents.refused,
      `Documents, ${created} created`,
      'concluded',
      'refused',
    ],
    ['webhooks', webhooks.delivered, webhooks.failed, 'Webhook deliveries', 'delivered', 'failed'],
    ['mails', mails.sent, mails.failed, 'E-mails', 'sent', 'failed'],
  ] as const;
  for (const [name, good, bad, title, goodText, badText] of charts) {
    const isLow = incomplete.includes(name);
    showChart(
      requireElement(`#chart-${name}`),
      { ...series, good, bad },
      { title: isLow ? `${title}, not all counted` : title, good: goodText, bad: badText },
    );
  }
  const more = incomplete.includes('documents') ? 'more than ' : '';
  requireElement('#created').textContent = `${more}${created} created`;
  // A failed request is repeated at the next refresh.
  refreshes += 1;
}
