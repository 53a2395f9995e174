/** Branding of the key's organization. Source: docs/decisions/0130-branding.md. */

import { z } from 'zod';
import { bytes, entity, list, maybePart, members, shown, textUpTo, word } from '../fields.ts';
import type { Value } from '../operation.ts';
import { organizationParams } from './ids.ts';
import { operationsOf } from './operation.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  LANGUAGES,
  MAX_INTRODUCTION,
  MAX_REDIRECT_URL,
  MAX_SUBJECT,
} from './words.ts';

export const MAX_REDIRECT_ORIGINS = 20;
export const MAX_LOGO_BYTES = 64 * 1024;
/** Larger files are refused unread; up to here with the limit by the check of the picture. */
const MAX_READ_LOGO_BYTES = 512 * 1024;

const kind = { description: 'Mail that the text is for.' };
const subject = {
  description: 'Subject line of the mail. Null: that of the service.',
  exampleValue: 'Please sign: {document}',
};
const introduction = 'Please sign {document}.';
const mailTexts = {
  description: 'Texts of mails in place of those of the service, at most one for each kind.',
};
const primaryColor = '#1d4f91';
const headerColor = '#102a43';
const redirectUrl = 'https://app.example.com/done';
const redirectOrigins = ['https://app.example.com'];

/** Words of an organization in place of those of the service; null: those of the service. Plain text with placeholders. */
export interface MailWording {
  readonly subject: string | null;
  /** In place of the first paragraph. */
  readonly introduction: string | null;
}

/** By kind here; a list on the wire. */
type MailTexts = { readonly [Kind in BrandedMail]?: MailWording };

const mailText = z.strictObject({
  kind: z.enum(BRANDED_MAILS).meta(kind),
  subject: z.string().nullable().meta(subject),
  introduction: shown(
    z.string().nullable(),
    'Plain text in place of the first paragraph of the mail. Null: the text of the service.',
    introduction,
  ),
});

const branding = entity('Branding', {
  primaryColor: shown(
    z.string().nullable(),
    '#rrggbb: buttons and links; null: the color of the service.',
    primaryColor,
  ),
  headerColor: shown(z.string().nullable(), '#rrggbb: band above the page; null: none.', headerColor),
  logo: maybePart('Pixels; null: none.', {
    contentType: shown(z.string(), 'Media type of the picture.', 'image/png'),
    width: shown(z.int(), 'Width of the picture, pixels.', 320),
    height: shown(z.int(), 'Height of the picture, pixels.', 80),
  }),
  mailTexts: z
    .codec(z.array(mailText), z.custom<MailTexts>(), {
      decode: textsByKind,
      encode: (texts) =>
        BRANDED_MAILS.flatMap((kind) => {
          const wording = texts[kind];
          return wording === undefined ? [] : [{ kind, ...wording }];
        }),
    })
    .meta({ ...mailTexts, openapi: z.array(mailText) }),
  redirectUrl: shown(z.string().nullable(), 'Page that opens after signing; null: none.', redirectUrl),
  redirectOrigins: shown(z.array(z.string()), 'Origins that redirectUrl may have.', redirectOrigins),
});

const newWording = {
  subject: textUpTo(MAX_SUBJECT).nullish().meta(subject),
  introduction: shown(
    textUpTo(MAX_INTRODUCTION).nullish(),
    'In place of the first paragraph; plain text with placeholders such as {document}; those of pending-list are {organization}, {recipient} and {count}, those of sign-in {organization}, {recipient} and {minutes}.',
    introduction,
  ),
};

function textsByKind(
  texts: readonly ({ readonly kind: BrandedMail } & {
    readonly [Member in keyof MailWording]?: string | null | undefined;
  })[],
): MailTexts {
  return Object.fromEntries(
    texts.map(({ kind, subject = null, introduction = null }) => [kind, { subject, introduction }]),
  );
}

/** Replaces the settings: members that are left out are removed. */
const newBranding = members({
  primaryColor: shown(textUpTo(20).nullish(), '#rrggbb, with AA contrast to white text.', primaryColor),
  headerColor: shown(
    textUpTo(20).nullish(),
    'Colour of the band above the page, `#rrggbb`. Null: no band.',
    headerColor,
  ),
  mailTexts: list(members({ kind: word(BRANDED_MAILS).meta(kind), ...newWording }), {
    most: BRANDED_MAILS.length,
  })
    .nullish()
    .meta(mailTexts),
  redirectUrl: shown(
    textUpTo(MAX_REDIRECT_URL).nullish(),
    'Page to which people go after signing. Null: they stay.',
    redirectUrl,
  ),
  redirectOrigins: shown(
    list(textUpTo(300), { most: MAX_REDIRECT_ORIGINS }).nullish(),
    'Origins to which pages may send people after signing, at most 20.',
    redirectOrigins,
  ),
})
  .transform(
    ({ primaryColor = null, headerColor = null, mailTexts, redirectUrl = null, redirectOrigins }) => ({
      primaryColor,
      headerColor,
      redirectUrl,
      mailTexts: textsByKind(mailTexts ?? []),
      redirectOrigins: redirectOrigins ?? [],
    }),
  )
  .meta({ id: 'NewBranding' });
/** As it is stored. */
export type BrandingSettings = Value<typeof newBranding>;

const newLogo = members({
  bytes: shown(bytes(MAX_LOGO_BYTES, MAX_READ_LOGO_BYTES), 'Picture in PNG or JPEG, Base64.', 'iVBORw0KGgo='),
}).meta({ id: 'NewLogo' });

const newMailPreview = members({
  kind: word(BRANDED_MAILS).meta(kind),
  ...newWording,
  language: word(LANGUAGES).nullish().describe('That of the organization when absent.'),
}).meta({ id: 'NewMailPreview' });
export type NewMailPreview = Value<typeof newMailPreview>;

const mailPreview = entity('MailPreview', {
  subject: shown(z.string(), 'Subject line of the mail.', 'Please sign: Lease'),
  text: shown(z.string(), 'The mail as plain text.', 'Please sign.'),
  html: shown(z.string(), 'The mail as HTML.', '<p>Please sign.</p>'),
});
export type MailPreview = Value<typeof mailPreview>;

/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const operation = operationsOf({ group: 'Organizations' });

export const getBranding = operation('GET /api/organizations/{id}/branding', {
  summary: 'Returns the branding of the organization of the key.',
  description:
    '`id` is that of the key’s organization; any other is `OrganizationNotFound`. Members without a value are null, and the service uses its own. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: organizationParams,
  reply: branding,
  refusals: ['OrganizationNotFound'],
});

export const replaceBranding = operation('PUT /api/organizations/{id}/branding', {
  summary: 'Replaces colors, texts of mails and the page after signing; the logo stays.',
  description:
    'Pages and e-mails use it from now on. Members that are left out are removed. `InvalidBranding` names the member: a color with too little contrast, an unknown placeholder, or a URL whose origin is not listed.',
  scope: 'Administer',
  params: organizationParams,
  body: newBranding,
  reply: branding,
  examples: { request: { headerColor } },
  refusals: ['OrganizationNotFound', 'InvalidBranding'],
});

export const setLogo = operation('PUT /api/organizations/{id}/branding/logo', {
  summary: 'Sets the logo: a PNG or JPEG file of at most 64 KiB and 1200 x 600 pixels.',
  description:
    'Replaces the logo of pages and e-mails. The metadata of the file is removed. `InvalidBranding`: the file is neither PNG nor JPEG, is damaged, or is too large.',
  scope: 'Administer',
  params: organizationParams,
  body: newLogo,
  reply: branding,
  examples: { request: { bytes: PIXEL } },
  refusals: ['OrganizationNotFound', 'InvalidBranding'],
});

export const removeLogo = operation('DELETE /api/organizations/{id}/branding/logo', {
  summary: 'Removes the logo.',
  description: 'The reply is also 200 when there is no logo.',
  scope: 'Administer',
  params: organizationParams,
  reply: branding,
  refusals: ['OrganizationNotFound'],
});

export const previewMail = operation('POST /api/organizations/{id}/branding/preview', {
  summary: 'Returns an e-mail with sample data; nothing is sent.',
  description:
    'For an editor of texts: the e-mail as its recipient would see it, with the stored branding. Texts that are left out are the stored ones. Nothing is stored. `InvalidBranding`: a placeholder is unknown.',
  scope: 'Administer',
  params: organizationParams,
  body: newMailPreview,
  reply: mailPreview,
  examples: { request: { kind: 'pending', subject: 'Please sign' } },
  refusals: ['OrganizationNotFound', 'InvalidBranding'],
});
