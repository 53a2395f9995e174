/** Webhook deliveries of one organization of the portal, below the queues of `/webhooks`. */
import type {
  PortalWebhookDeliveryList,
  PortalWebhookOrganizations,
} from '../../../clients/typescript/batch.d.ts';
import { createElement, requireElement, setText } from '../dom.ts';
import { actorLink } from './actors.ts';
import { getShared, post, runAction } from './api.ts';
import { chip, emptyRow, refill, row, timeElement } from './state-labels.ts';

const COLUMNS = 7;
const organization = () => requireElement('[name="organization"]', HTMLSelectElement);
const status = () => requireElement('[name="portal-status"]', HTMLSelectElement);

export function startPortalDeliveries(refresh: () => void): void {
  const form = requireElement('#portal-filters');
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('change', refresh);
  organization().addEventListener('blur', refresh);
}

/**
 * Offers the organizations with their numbers. A list with the focus may be open: replaced options would close it, so it
 * stays until it loses the focus.
 */
function offerOrganizations(items: PortalWebhookOrganizations['items']): void {
  const select = organization();
  const offered = [
    { value: '', text: 'choose' },
    ...items.map(({ id, name, pending, delivered, failed }) => {
      return { value: id, text: `${name}: ${failed} failed, ${pending} pending, ${delivered} delivered` };
    }),
  ];
  const mayBeOpen = document.activeElement === select && select.length > 1;
  const isSame =
    select.length === offered.length &&
    offered.every(({ value, text }, at) => {
      const option = select.options[at];
      return option?.value === value && option.textContent === text;
    });
  if (mayBeOpen || isSame) return;
  const chosen = select.value;
  select.replaceChildren(...offered.map(({ value, text }) => createElement('option', { value }, text)));
  select.value = items.some(({ id }) => id === chosen) ? chosen : '';
}

export async function refreshPortalDeliveries(refresh: () => void): Promise<void> {
  const { items } = await getShared<PortalWebhookOrganizations>('/api/webhooks/portal');
  offerOrganizations(items);
  const id = items.find((one) => one.id === organization().value)?.id;
  if (id === undefined) {
    requireElement('#portal-total').textContent = '';
    refill(requireElement('#portal-rows'), emptyRow(COLUMNS, 'Choose an organization.'));
    return;
  }
  const query = new URLSearchParams({ pageSize: '50' });
  if (status().value !== '') query.set('status', status().value);
  const path = `/api/webhooks/portal/${encodeURIComponent(id)}/deliveries`;
  const list = await getShared<PortalWebhookDeliveryList>(`${path}?${query}`);
  const { totalCount } = list;
  const shown = Math.min(totalCount, list.items.length);
  setText(
    requireElement('#portal-total'),
    `${totalCount} ${totalCount === 1 ? 'delivery' : 'deliveries'}, the newest ${shown}`,
  );
  const rows = list.items.map((delivery) => deliveryRow(path, delivery, refresh));
  refill(
    requireElement('#portal-rows'),
    ...(rows.length > 0 ? rows : [emptyRow(COLUMNS, 'No delivery fits.')]),
  );
}

function deliveryRow(
  path: string,
  delivery: PortalWebhookDeliveryList['items'][number],
  refresh: () => void,
): HTMLElement {
  const { id, documentId, type, attempts, createdAt } = delivery;
  const last = attempts.at(-1);
  const answer =
    last === undefined ? '' : (last.error ?? `${last.status ?? ''} ${last.response ?? ''}`.trim());
  const again = createElement('button', { type: 'button', id: `portal-resend-${id}` }, 'Send again');
  again.addEventListener('click', async () => {
    await runAction(
      again,
      () => post(`${path}/${encodeURIComponent(id)}/resend`),
      () => 'It is sent again.',
    );
    refresh();
  });
  const tries = attempts.map(({ at, status: code, error }) =>
    createElement('li', {}, timeElement(at), ` ${error ?? code ?? ''}`),
  );
  const attempted = createElement(
    'details',
    { id: `attempts-${id}` },
    createElement('summary', {}, String(attempts.length)),
    createElement('ol', {}, ...tries),
  );
  return row(
    type,
    documentId === null ? '' : actorLink('document', documentId, documentId.slice(0, 8)),
    chip(delivery.status),
    attempted,
    answer,
    timeElement(createdAt),
    again,
  );
}
