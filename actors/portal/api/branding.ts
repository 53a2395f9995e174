/** Branding of an organization: logo, colours, texts of its mails, and the page after signing. */
import type { OrganizationId } from '../../../machines/ids.ts';
import type { BrandedMail, BrandingContext, BrandingSettings } from '../../../machines/portal/branding.ts';
import type { Language } from '../../../machines/portal/organization.ts';
import type { Tenant } from './callers.ts';

/** A mail as it would be sent. */
export interface MailPreview {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The part of a branding that pages show. */
export interface PageBranding {
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** Changes with the colours. */
  readonly colors: string | undefined;
  readonly logo: { readonly width: number; readonly height: number; readonly digest: string } | undefined;
}

export interface PortalBranding {
  /** Names that texts of mails may have in braces. */
  placeholdersOf(kind: BrandedMail): readonly string[];
  get(tenant: Tenant): Promise<BrandingContext>;
  /** The nearest shade of a color that buttons and links can have; undefined for what is no color. */
  usableShade(color: string): string | undefined;
  /** Refusals: `InvalidBranding`. */
  replace(tenant: Tenant, settings: BrandingSettings): Promise<BrandingContext>;
  /** Null removes it. Refusals: `InvalidBranding`. */
  setLogo(tenant: Tenant, file: Buffer | null): Promise<BrandingContext>;
  /** A mail with sample data; nothing is sent. Refusals: `InvalidBranding`. */
  preview(
    tenant: Tenant,
    request: {
      readonly kind: BrandedMail;
      readonly subject: string | null;
      readonly introduction: string | null;
      readonly language: Language | undefined;
    },
  ): Promise<MailPreview>;
  /** Logo and stylesheet of any organization, for its pages; undefined = it has none. */
  logo(organization: string): Promise<{ readonly contentType: string; readonly bytes: Buffer } | undefined>;
  stylesheet(organization: string): Promise<string | undefined>;
}
