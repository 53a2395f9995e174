/** `/webhooks`: calls of webhooks, their attempts, and sending them again. */
import type {
  ActorPage,
  PortalWebhookDeliveryList,
  PortalWebhookOrganizations,
  WebhookDeliveryList,
  WebhookReplay,
} from '../../../../clients/typescript/batch.d.ts';
import { type WebhookData, WebhooksView } from '../../../pages/batch/deliveries.tsx';
import { counted } from '../../../pages/batch/parts.tsx';
import { getJson, getServed, getShared, post, runAction } from '../api.ts';
import { ask } from '../dialogs.tsx';
import { ListAddress } from '../list-address.ts';
import { startPage } from '../live-page.tsx';

/** Kind of the queues of the portal's events. */
const QUEUE_KIND = 'webhook-lane';

class WebhookListAddress extends ListAddress {
  async replay(button: HTMLButtonElement): Promise<void> {
    const failed = await getJson<WebhookDeliveryList>('/api/webhooks/deliveries?status=failed&pageSize=1');
    const title = `Send ${counted(failed.totalCount, 'failed delivery', 'failed deliveries')} again?`;
    if (!(await ask(title, 'Send again'))) return;
    await runAction(
      button,
      () => post<WebhookReplay>('/api/webhooks/replay', { failedOnly: true }),
      ({ count }) => `${counted(count, 'delivery is', 'deliveries are')} sent again.`,
    );
    live.refresh();
  }

  async resend(button: HTMLButtonElement, id: string, isOfPortal = false): Promise<void> {
    const list = isOfPortal ? deliveriesOf(this.query) : '/api/webhooks/deliveries';
    await runAction(
      button,
      () => post(`${list}/${encodeURIComponent(id)}/resend`),
      () => 'It is sent again.',
    );
    live.refresh();
  }
}

const address = new WebhookListAddress(() => live);

function deliveriesOf(query: URLSearchParams): string {
  return `/api/webhooks/portal/${encodeURIComponent(query.get('organization') ?? '')}/deliveries`;
}

async function load(): Promise<WebhookData> {
  address.keep();
  const query = new URLSearchParams();
  for (const name of ['status', 'page']) {
    const value = address.query.get(name);
    if (value !== null) query.set(name, value);
  }
  const [list, portal] = await Promise.all([
    getShared<WebhookDeliveryList>(`/api/webhooks/deliveries?${query}`),
    loadPortal(),
  ]);
  return { list, ...(portal !== undefined && { portal }) };
}

/** Shows failing queues first, then a few others; without a portal there are none. */
async function loadPortal(): Promise<WebhookData['portal']> {
  const failing = await queues('&stuck=true&limit=50');
  const others = await queues('&limit=20');
  if (failing === undefined || others === undefined) return undefined;
  const known = new Set(failing.map(({ id }) => id));
  const { items } = await getShared<PortalWebhookOrganizations>('/api/webhooks/portal');
  const chosen = address.query.get('organization');
  return {
    queues: [...failing, ...others.filter(({ id }) => !known.has(id))],
    organizations: items,
    deliveries: items.some(({ id }) => id === chosen) ? await loadDeliveries() : undefined,
  };
}

async function queues(more: string) {
  return (await getServed<ActorPage>(`/api/actors?kind=${QUEUE_KIND}${more}`))?.items;
}

function loadDeliveries(): Promise<PortalWebhookDeliveryList> {
  const status = address.query.get('portal-status');
  const query = new URLSearchParams({ pageSize: '50', ...(status !== null && { status }) });
  return getShared<PortalWebhookDeliveryList>(`${deliveriesOf(address.query)}?${query}`);
}

const live = startPage<WebhookData>({
  load,
  view: (data) => <WebhooksView query={address.query} data={data} actions={address} />,
});
