/**
 * Deliveries of all organizations, as operators see them: without bodies, which name participants.
 */

import type { ActorStore } from '@sealwright/runtime';
import type { DeliveryStatus } from '../../../contracts/deliveries.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { DeliveryView } from '../../../contracts/portal/webhooks/webhooks.ts';
import { type ApplicationId, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Administration } from '../accounts/administration.ts';
import type { Tenant } from '../api/callers.ts';
import type { Deliveries, DeliveryQuery } from './deliveries.ts';

const MAX_ORGANIZATIONS = 200;
const NONE: OrganizationDeliveries['counts'] = { Pending: 0, Delivered: 0, Failed: 0 };

/** Deliveries of one organization, by state. */
interface OrganizationDeliveries {
  readonly id: OrganizationId;
  readonly name: string;
  readonly counts: { readonly [status in DeliveryStatus]: number };
}

/** Calls for the pages of operators. */
export type OperatorWebhooks = Pick<OperatorDeliveries, 'organizations' | 'deliveriesOf' | 'resendOf'>;

export class OperatorDeliveries {
  constructor(
    private readonly store: Pick<ActorStore, 'counters'>,
    private readonly webhooks: Deliveries,
    private readonly administration: Administration,
  ) {}

  /** Organizations with deliveries, those with most failures first, at most 200. */
  async organizations(): Promise<readonly OrganizationDeliveries[]> {
    const administration = this.administration;
    const first = (await this.#counts()).slice(0, MAX_ORGANIZATIONS);
    return Promise.all(
      first.map(async ([id, byStatus]) => {
        const { name } = await administration.organization(id as OrganizationId);
        return { id: id as OrganizationId, name, counts: byStatus };
      }),
    );
  }

  /** Returns all organizations with deliveries, those with most failures first. */
  async organizationIds(): Promise<readonly string[]> {
    return (await this.#counts()).map(([id]) => id);
  }

  async #counts(): Promise<readonly (readonly [string, OrganizationDeliveries['counts']])[]> {
    const counts = new Map<string, OrganizationDeliveries['counts']>();
    for (const [name, count] of Object.entries(await this.store.counters('deliveries/'))) {
      const [, organization = '', , status = ''] = name.split('/');
      const known = counts.get(organization) ?? NONE;
      if (status === 'Pending' || status === 'Delivered' || status === 'Failed')
        counts.set(organization, { ...known, [status]: known[status] + count });
    }
    return [...counts]
      .filter(([, { Pending, Delivered, Failed }]) => Pending + Delivered + Failed > 0)
      .sort(([, one], [, other]) => other.Failed - one.Failed || other.Pending - one.Pending);
  }

  /** Newest first. Empty for an unknown organization. */
  async deliveriesOf(
    organization: string,
    query: Omit<DeliveryQuery, 'webhookId'>,
  ): Promise<Page<Omit<DeliveryView, 'body'>>> {
    const tenant = tenantOf(organization);
    if (tenant === undefined) return { items: [], totalCount: 0 };
    const { items, totalCount } = await this.webhooks.deliveries(tenant, query);
    return { items: items.map(({ body: _, ...delivery }) => delivery), totalCount };
  }

  /** Records the operator in the journal of the organization. Refusals: `DeliveryNotFound`. */
  async resendOf(organization: string, deliveryId: string, operator: string): Promise<void> {
    const tenant = tenantOf(organization);
    if (tenant === undefined) throw new PortalRefusal('DeliveryNotFound');
    const by = `operator ${operator}`;
    await this.webhooks.resend(tenant, deliveryId, by);
    const note = `Delivery ${deliveryId} sent again.`;
    await this.administration.record(tenant.organization.id, note, by);
  }
}

/** The operator as a caller in an organization; undefined for text that is no id. */
function tenantOf(text: string): Tenant | undefined {
  const id = parsePortalId('OrganizationId', text);
  return (
    id && {
      organization: { id, name: '' },
      application: { id: id as string as ApplicationId, name: 'operator', role: 'Normal' },
    }
  );
}
