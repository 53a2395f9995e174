import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type OperatorActivity, VISIT_OUTCOMES } from '../../actors/portal/api.ts';
import { DELIVERY_STATUSES, MAIL_STATUSES } from '../../contracts/deliveries.ts';
import { DOCUMENT_STATUSES } from '../../contracts/portal/words.ts';

const SIGNATURE_KINDS = ['electronic', 'certificate', 'approval'] as const;
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of the portal, which has no endpoint of its own. Read from the store on each request. */
export interface PortalMetrics {
  signed(kind: string, took: number): void;
  visited(outcome: string): void;
  read(portal: Pick<OperatorActivity, 'load'>): Promise<void>;
}

export function createPortalMetrics(registry: Registry, now: () => number): PortalMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const documents = gauge('portal_documents', 'Documents by status.', ['status']);
  const mails = gauge(
    'portal_mails',
    'E-mails by status: Waiting after a failed attempt, Failed after the last.',
    ['status'],
  );
  const oldestMail = gauge(
    'portal_mail_oldest_waiting_seconds',
    'Age of the oldest e-mail that is not sent and not given up; 0 when there is none.',
  );
  const calls = gauge(
    'portal_webhook_deliveries',
    'Webhook deliveries by status; Failed after the last attempt.',
    ['status'],
  );
  const oldestCall = gauge(
    'portal_webhook_oldest_pending_seconds',
    'Age of the oldest webhook delivery that waits for an attempt; 0 when there is none.',
  );
  const signing = new Histogram({
    name: 'portal_signing_duration_seconds',
    help: 'Time to put an accepted signature into its document, without the wait before.',
    labelNames: ['kind'],
    buckets: BUCKETS,
    registers,
  });
  for (const kind of SIGNATURE_KINDS) signing.zero({ kind });
  const visits = new Counter({
    name: 'portal_link_visits_total',
    help: 'Visits to links for anybody that asked for a document, by what became of them.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of VISIT_OUTCOMES) visits.inc({ outcome }, 0);
  const set = (into: Gauge, states: readonly string[], counts: { readonly [state: string]: number }) => {
    for (const status of new Set([...states, ...Object.keys(counts)]))
      into.set({ status }, counts[status] ?? 0);
  };
  const age = (at: number | null) => (at === null ? 0 : Math.max(0, now() - at) / 1000);
  return {
    signed: (kind, took) => signing.observe({ kind }, took / 1000),
    visited: (outcome) => visits.inc({ outcome }),
    async read(portal) {
      const load = await portal.load();
      set(documents, DOCUMENT_STATUSES, load.documents);
      set(mails, MAIL_STATUSES, load.mails.counts);
      set(calls, DELIVERY_STATUSES, load.webhooks.counts);
      oldestMail.set(age(load.mails.oldestWaiting));
      oldestCall.set(age(load.webhooks.oldestWaiting));
    },
  };
}
