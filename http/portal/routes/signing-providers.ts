/** Signing providers of the organization. */
import type { OrganizationProviders } from '../../../actors/portal/api.ts';
import {
  createProvider,
  listProviders,
  removeProvider,
  replaceProvider,
  testProvider,
} from '../../../contracts/portal/signing-providers.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { requireOwn } from './webhooks.ts';

export function signingProviderRoutes(providers: OrganizationProviders): readonly AnyRoute[] {
  return [
    handle(listProviders, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return providers.list(tenant);
    }),
    handle(createProvider, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return providers.create(tenant, body);
    }),
    handle(replaceProvider, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return providers.replace(tenant, params.providerId, body);
    }),
    handle(removeProvider, async ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      await providers.remove(tenant, params.providerId);
    }),
    handle(testProvider, async ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      const error = await providers.test(tenant, params.providerId);
      return { success: error === null, error };
    }),
  ];
}
