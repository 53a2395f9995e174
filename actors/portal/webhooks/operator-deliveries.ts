/**
 * Deliveries of all organizations, as operators see them: without bodies, which name participants. Implements
 * `OperatorWebhooks`.
 */

import type { ActorStore } from '@sealwright/runtime';
import type { Page } from '../../../contracts/portal/lists.ts';
import { type ApplicationId, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { PortalAdministration } from '../api/administration.ts';
import type { Tenant } from '../api/callers.ts';
import type {
  DeliveryView,
  OperatorWebhooks,
  OrganizationDeliveries,
  PortalWebhooks,
} from '../api/webhooks.ts';

const MAX_ORGANIZATIONS = 200;
const NONE: OrganizationDeliveries['counts'] = { Pending: 0, Delivered: 0, Failed: 0 };

export interface OperatorDeliveriesDependencies {
  readonly store: Pick<ActorStore, 'counters'>;
  readonly webhooks: Pick<PortalWebhooks, 'deliveries' | 'resend'>;
  readonly administration: Pick<PortalAdministration, 'organization' | 'record'>;
}

export class OperatorDeliveries implements OperatorWebhooks {
  readonly #dependencies: OperatorDeliveriesDependencies;

  constructor(dependencies: OperatorDeliveriesDependencies) {
    this.#dependencies = dependencies;
  }

  async organizations(): Promise<readonly OrganizationDeliveries[]> {
    const { administration } = this.#dependencies;
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
    const { store } = this.#dependencies;
    const counts = new Map<string, OrganizationDeliveries['counts']>();
    for (const [name, count] of Object.entries(await store.counters('deliveries/'))) {
      const [, organization = '', , status = ''] = name.split('/');
      const known = counts.get(organization) ?? NONE;
      if (status === 'Pending' || status === 'Delivered' || status === 'Failed')
        counts.set(organization, { ...known, [status]: known[status] + count });
    }
    return [...counts]
      .filter(([, { Pending, Delivered, Failed }]) => Pending + Delivered + Failed > 0)
      .sort(([, one], [, other]) => other.Failed - one.Failed || other.Pending - one.Pending);
  }

  async deliveriesOf(
    organization: string,
    query: Parameters<OperatorWebhooks['deliveriesOf']>[1],
  ): Promise<Page<Omit<DeliveryView, 'body'>>> {
    const tenant = tenantOf(organization);
    if (tenant === undefined) return { items: [], totalCount: 0 };
    const { items, totalCount } = await this.#dependencies.webhooks.deliveries(tenant, query);
    return { items: items.map(({ body: _, ...delivery }) => delivery), totalCount };
  }

  async resendOf(organization: string, deliveryId: string, operator: string): Promise<void> {
    const { webhooks, administration } = this.#dependencies;
    const tenant = tenantOf(organization);
    if (tenant === undefined) throw new PortalRefusal('DeliveryNotFound');
    await webhooks.resend(tenant, deliveryId);
    const note = `Delivery ${deliveryId} sent again.`;
    await administration.record(tenant.organization.id, note, `operator ${operator}`);
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
