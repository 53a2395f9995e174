/**
 * Branding of an organization: logo, colours, texts of mails and where its signing pages lead to afterwards.
 *
 * | from | event    | to   | effects |  |
 * |------|----------|------|---------|--|
 * | Kept | REPLACE  | Kept |         |  |
 * | Kept | SET_LOGO | Kept |         |  |
 *
 * Source: docs/decisions/0130-branding.md.
 */
import type { Millis } from '../ids.ts';
import { recordMachine } from '../record.ts';
import type { MailContent } from './mail.ts';

/** Kinds of mails whose words an organization can change. */
export const BRANDED_MAILS = [
  'pending',
  'reminder',
  'expiring',
  'concluded',
  'refused',
  'canceled',
  'new-version',
  'flow-edited',
  'observing',
  'code',
  'pending-list',
  'sign-in',
] as const satisfies readonly MailContent['about'][];
export type BrandedMail = (typeof BRANDED_MAILS)[number];

/** Words of an organization in place of ours; null = ours. Plain text with placeholders. */
export interface MailWording {
  readonly subject: string | null;
  /** In place of the first paragraph. */
  readonly introduction: string | null;
}

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

export interface BrandingSettings {
  /** `#rrggbb`: buttons and links; null = ours. */
  readonly primaryColor: string | null;
  /** `#rrggbb`: band above the page; null = none. */
  readonly headerColor: string | null;
  readonly mailTexts: { readonly [Kind in BrandedMail]?: MailWording };
  /** Page to which the signing page leads afterwards; null = none. */
  readonly redirectUrl: string | null;
  /** Origins that such pages may have. */
  readonly redirectOrigins: readonly string[];
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
