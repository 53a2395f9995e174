/** Charts of the portal on `/documents`: documents, webhook deliveries and e-mails of the last 24 hours. One request. */
import { findElement, requireElement } from '../../client/dom.ts';
import { getShared } from './api.ts';
import { showChart } from './series-chart.ts';

/** See `GET /api/portal/activity`. */
interface Activity {
  readonly since: string;
  readonly intervalSeconds: number;
  readonly documents: {
    readonly created: readonly number[];
    readonly concluded: readonly number[];
    readonly refused: readonly number[];
  };
  readonly webhooks: { readonly delivered: readonly number[]; readonly failed: readonly number[] };
  readonly mails: { readonly sent: readonly number[]; readonly failed: readonly number[] };
  /** Counts that are too low: not all of the window was read. */
  readonly incomplete: readonly ('documents' | 'webhooks' | 'mails')[];
}

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
  const { documents, webhooks, mails, incomplete, ...series } = await getShared<Activity>(
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
