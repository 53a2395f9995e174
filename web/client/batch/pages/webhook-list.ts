/** `/webhooks`: calls of webhooks, their attempts, and sending them again. */
import type {
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookReplay,
} from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement } from '../../dom.ts';
import { type ActorSummary, actorLink, troubleText } from '../actors.ts';
import { ApiProblem, getJson, getShared, post, promptReason, runAction } from '../api.ts';
import { startPage } from '../live-page.ts';
import { firstPage, keepInAddress, showList, startPages } from '../paged-list.ts';
import { refreshPortalDeliveries, startPortalDeliveries } from '../portal-deliveries.ts';
import { chip, emptyRow, jobLink, refill, row, timeElement } from '../state-labels.ts';

const TEXTS = { one: 'delivery', many: 'deliveries', columns: 7 };
/** Kind of the queues of the portal's events. */
const QUEUE_KIND = 'webhook-lane';

const status = () => requireElement('#filters select', HTMLSelectElement);
let refreshPage = () => {};

/** Fills the form from the address, and refreshes on changes. */
function startWebhookList(refresh: () => void): void {
  refreshPage = refresh;
  const given = new URLSearchParams(location.search);
  status().value = given.get('status') ?? '';
  requireElement('#filters').addEventListener('submit', (event) => event.preventDefault());
  status().addEventListener('change', () => {
    firstPage();
    refresh();
  });
  const replay = requireElement('#replay', HTMLButtonElement);
  replay.addEventListener('click', async () => {
    const failed = await getJson<WebhookDeliveryList>('/api/webhooks/deliveries?status=failed&pageSize=1');
    const title = `Send ${failed.totalCount} failed deliveries again?`;
    if ((await promptReason(title, 'Send again')) === undefined) return;
    await runAction(
      replay,
      () => post<WebhookReplay>('/api/webhooks/replay', { failedOnly: true }),
      ({ count }) => `${count} deliveries are sent again.`,
    );
    refresh();
  });
  startPages(given, refresh);
  startPortalDeliveries(refresh);
}

async function refreshWebhookList(): Promise<void> {
  const query = new URLSearchParams();
  if (status().value !== '') query.set('status', status().value);
  keepInAddress(query);
  showList(await getShared<WebhookDeliveryList>(`/api/webhooks/deliveries?${query}`), TEXTS, deliveryRow);
  await showQueues();
}

/** Shows failing queues first, then a few others; without a portal there are none. */
async function showQueues(): Promise<void> {
  const section = requireElement('#portal-section');
  try {
    const failing = await queues('&stuck=true&limit=50');
    const others = await queues('&limit=20');
    const known = new Set(failing.map(({ id }) => id));
    const shown = [...failing, ...others.filter(({ id }) => !known.has(id))];
    section.hidden = false;
    await refreshPortalDeliveries(refreshPage);
    const rows = shown.map((actor) =>
      row(
        actorLink(actor.kind, actor.id),
        chip(actor.state),
        String(actor.revision),
        createElement('td', { class: 'trouble' }, troubleText(actor)),
      ),
    );
    refill(requireElement('#queues'), ...(rows.length > 0 ? rows : [emptyRow(4, 'No event was sent yet.')]));
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'actor.not-found') throw error;
    section.hidden = true;
  }
}

async function queues(more: string): Promise<readonly ActorSummary[]> {
  const page = await getShared<{ readonly items: readonly ActorSummary[] }>(
    `/api/actors?kind=${QUEUE_KIND}${more}`,
  );
  return page.items;
}

function deliveryRow({ id, type, jobId, status, attempts, createdAt }: WebhookDelivery): HTMLElement {
  const last = attempts.at(-1);
  const answer =
    last === undefined ? '' : (last.error ?? `${last.status ?? ''} ${last.response ?? ''}`.trim());
  const again = createElement('button', { type: 'button', id: `resend-${id}` }, 'Send again');
  again.addEventListener('click', async () => {
    await runAction(
      again,
      () => post(`/api/webhooks/deliveries/${encodeURIComponent(id)}/resend`),
      () => 'It is sent again.',
    );
    refreshPage();
  });
  return row(
    type,
    jobLink(jobId, jobId.slice(0, 8)),
    chip(status),
    String(attempts.length),
    answer,
    timeElement(createdAt),
    again,
  );
}

startPage(refreshWebhookList, startWebhookList);
