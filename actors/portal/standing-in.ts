/** Members of the portal that are not built yet: each refuses as a service that is not there. */
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { PortalWebhooks } from './api.ts';

const absent = (): never => {
  throw new PortalRefusal('NotFound');
};

export const STANDING_IN: {
  readonly webhooks: PortalWebhooks;
} = {
  webhooks: {
    list: async () => [],
    create: absent,
    replace: absent,
    remove: absent,
    deliveries: async () => ({ items: [], totalCount: 0 }),
    resend: absent,
    test: absent,
    replay: absent,
  },
};
