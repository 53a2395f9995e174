/**
 * Branding of an organization: logo, colours, texts of mails and where its signing pages lead to afterwards.
 *
 * | from | message  | to   | effects |  |
 * |------|----------|------|---------|--|
 * | Kept | REPLACE  | Kept |         |  |
 * | Kept | SET_LOGO | Kept |         |  |
 *
 * Source: docs/decisions/0130-branding.md.
 */
import type { BrandingSettings } from '../../contracts/portal/branding.ts';
import type { Millis, OrganizationId } from '../ids.ts';
import { recordMachine } from '../record.ts';

export interface Logo {
  readonly contentType: 'image/png' | 'image/jpeg';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Base64. */
  readonly bytes: string;
  /** Beginning of its SHA-256, hex: part of its address, so that browsers may keep it. */
  readonly digest: string;
}

export interface BrandingContext extends BrandingSettings {
  readonly logo: Logo | null;
}

export const NO_BRANDING: BrandingContext = {
  primaryColor: null,
  headerColor: null,
  mailTexts: {},
  redirectUrl: null,
  redirectOrigins: [],
  logo: null,
};

/** The part of a branding that pages show. */
export interface PageBranding {
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** Changes with the colors. */
  readonly colors: string | undefined;
  readonly logo: Pick<Logo, 'width' | 'height' | 'digest'> | undefined;
}

/** Undefined when pages look as ours. */
export function pageBrandingOf(
  { primaryColor, headerColor, logo }: BrandingContext,
  organization: { readonly id: OrganizationId; readonly name: string },
): PageBranding | undefined {
  if (primaryColor === null && headerColor === null && logo === null) return undefined;
  const colors = `${primaryColor ?? ''}${headerColor ?? ''}`.replaceAll('#', '');
  return {
    organizationId: organization.id,
    name: organization.name,
    colors: colors === '' ? undefined : colors,
    logo: logo === null ? undefined : { width: logo.width, height: logo.height, digest: logo.digest },
  };
}

/** The page after signing, if its origin is on the list now. */
export function redirectOf({ redirectUrl, redirectOrigins }: BrandingContext): string | undefined {
  return redirectUrl !== null && redirectOrigins.includes(new URL(redirectUrl).origin)
    ? redirectUrl
    : undefined;
}

export type BrandingMessage = { readonly at: Millis } & (
  | { readonly type: 'REPLACE'; readonly settings: BrandingSettings }
  | { readonly type: 'SET_LOGO'; readonly logo: Logo | null }
);

export const brandingMachine = recordMachine<BrandingContext, BrandingMessage>({
  id: 'branding',
  state: 'Kept',
  context: (input) => input,
  changes: {
    REPLACE: (_, { settings }) => ({ context: settings, note: 'Branding changed.' }),
    SET_LOGO: (_, { logo }) => ({
      context: { logo },
      note: logo === null ? 'Logo removed.' : 'Logo changed.',
    }),
  },
});
