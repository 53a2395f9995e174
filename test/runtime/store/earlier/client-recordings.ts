/** Everything both sides of kept roots do as clients of the portal. */
import { createHash } from 'node:crypto';
import type { Client } from '../../../actors/portal/service.ts';
import type { ReceivedCall } from '../../../actors/portal/webhooks/receiver.ts';

export interface Detail {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly flowActions: readonly {
    readonly id: string;
    readonly status: string;
    readonly user: { readonly email: string };
  }[];
}

/** @param url of the receiver of the organization's webhook */
export function settingsFor(url: string) {
  return {
    'Portal:Organizations:0:Name': 'Acme',
    'Portal:Organizations:0:Webhook:Url': url,
    'Portal:Organizations:0:Webhook:AuthType': 'Bearer',
    'Portal:Organizations:0:Webhook:Token': 'kept-token',
    'Portal:Organizations:0:Webhook:Secret': `whsec_${Buffer.alloc(32, 4).toString('base64')}`,
    'Portal:WebhookAllowPrivate': true,
  };
}

export function approver(name: string, step: number) {
  return { type: 'Approver', step, user: { name, email: `${name.toLowerCase()}@example.test` } };
}

export function detailOf(client: Client, id: string): Promise<Detail> {
  return client.get<Detail>(`/api/documents/${id}`);
}

/** Approves as the participant whose turn it is; false without one. */
export async function approveNext(client: Client, id: string): Promise<boolean> {
  const detail = await detailOf(client, id);
  const pending = detail.flowActions.find(({ status }) => status === 'Pending');
  if (pending === undefined || detail.status !== 'Pending') return false;
  const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, {
    emailAddress: pending.user.email,
  });
  const ticket = new URL(url).searchParams.get('ticket');
  await client.post(`/api/documents/keys/${detail.key}/approval`, { ticket });
  return true;
}

export function idOf(call: ReceivedCall): string {
  return String(call.headers['webhook-id']);
}

export function hashOf(call: ReceivedCall): string {
  return createHash('sha256').update(call.body).digest('hex');
}
