/** Branding of the key's organization. */
import type { BrandingService } from '../../../actors/portal/api.ts';
import {
  getBranding,
  previewMail,
  removeLogo,
  replaceBranding,
  setLogo,
} from '../../../contracts/portal/branding.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { requireOwn } from './webhooks.ts';

export function brandingRoutes(branding: BrandingService): readonly AnyRoute[] {
  return [
    handle(getBranding, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return branding.get(tenant);
    }),
    handle(replaceBranding, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return branding.replace(tenant, body);
    }),
    handle(setLogo, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return branding.setLogo(tenant, body.bytes);
    }),
    handle(removeLogo, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return branding.setLogo(tenant, null);
    }),
    handle(previewMail, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return branding.preview(tenant, body);
    }),
  ];
}
