/** Branding of the key's organization. Source: docs/decisions/0130-branding.md. */
import { z } from 'zod';
import type { PortalBranding } from '../../../actors/portal/api.ts';
import { bytes, list, members, textUpTo, word } from '../../../contracts/fields.ts';
import { BRANDED_MAILS, type BrandingContext, type MailWording } from '../../../machines/portal/branding.ts';
import { LANGUAGES } from '../../../machines/portal/organization.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { requireOwn } from '../routes/webhooks.ts';

const MAX_SUBJECT = 200;
const MAX_INTRODUCTION = 2_000;
const MAX_ORIGINS = 20;
/** Larger ones are refused with the limit by the check of the picture. */
const MAX_READ_LOGO_BYTES = 512 * 1024;

const subject = textUpTo(MAX_SUBJECT).nullish().meta({
  description: 'Subject line of the mail. Null: that of the service.',
  exampleValue: 'Please sign: {document}',
});
const introduction = textUpTo(MAX_INTRODUCTION)
  .nullish()
  .describe(
    'In place of the first paragraph; plain text with placeholders such as {document}; those of pending-list are {organization}, {recipient} and {count}, those of sign-in {organization}, {recipient} and {minutes}.',
  );

const brandingShape = z
  .strictObject({
    primaryColor: z
      .string()
      .nullable()
      .describe('#rrggbb: buttons and links; null: the color of the service.'),
    headerColor: z.string().nullable().describe('#rrggbb: band above the page; null: none.'),
    logo: z
      .strictObject({ contentType: z.string(), width: z.int(), height: z.int() })
      .nullable()
      .describe('Pixels; null: none.'),
    mailTexts: z.array(
      z.strictObject({
        kind: z.enum(BRANDED_MAILS),
        subject: z.string().nullable(),
        introduction: z.string().nullable(),
      }),
    ),
    redirectUrl: z.string().nullable().describe('Page that opens after signing; null: none.'),
    redirectOrigins: z.array(z.string()).describe('Origins that redirectUrl may have.'),
  })
  .meta({ id: 'Branding' });

/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function brandingRoutes(branding: PortalBranding): readonly AnyRoute[] {
  const responses = { 200: brandingShape };
  return [
    portalRoute({
      method: 'GET',
      path: '/api/organizations/{id}/branding',
      group: 'Organizations',
      summary: 'Returns the branding of the organization of the key.',
      description:
        '`id` is that of the key’s organization; any other is `OrganizationNotFound`. Members without a value are null, and the service uses its own. The session of a user needs the role administrator.',
      scope: 'Read',
      sessionScope: 'Administer',
      params: idParams,
      responses,
      refusals: ['OrganizationNotFound'],
      async handle({ tenant, params }) {
        requireOwn(tenant, params.id);
        return json(200, bodyOf(await branding.get(tenant)));
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/organizations/{id}/branding',
      group: 'Organizations',
      summary: 'Replaces colors, texts of mails and the page after signing; the logo stays.',
      description:
        'Pages and e-mails use it from now on. Members that are left out are removed. `InvalidBranding` names the member: a color with too little contrast, an unknown placeholder, or a URL whose origin is not listed.',
      scope: 'Administer',
      params: idParams,
      body: members({
        primaryColor: textUpTo(20).nullish().describe('#rrggbb, with AA contrast to white text.'),
        headerColor: textUpTo(20).nullish(),
        mailTexts: list(members({ kind: word(BRANDED_MAILS), subject, introduction }), {
          most: BRANDED_MAILS.length,
        }).nullish(),
        redirectUrl: textUpTo(500).nullish(),
        redirectOrigins: list(textUpTo(300), { most: MAX_ORIGINS }).nullish(),
      }),
      responses,
      examples: { request: { headerColor: '#102a43' } },
      refusals: ['OrganizationNotFound', 'InvalidBranding'],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        const mailTexts = Object.fromEntries(
          (body.mailTexts ?? []).map((one): [string, MailWording] => [
            one.kind,
            { subject: one.subject ?? null, introduction: one.introduction ?? null },
          ]),
        );
        const changed = await branding.replace(tenant, {
          primaryColor: body.primaryColor ?? null,
          headerColor: body.headerColor ?? null,
          mailTexts,
          redirectUrl: body.redirectUrl ?? null,
          redirectOrigins: body.redirectOrigins ?? [],
        });
        return json(200, bodyOf(changed));
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/organizations/{id}/branding/logo',
      group: 'Organizations',
      summary: 'Sets the logo: a PNG or JPEG file of at most 64 KiB and 1200 x 600 pixels.',
      description:
        'Replaces the logo of pages and e-mails. The metadata of the file is removed. `InvalidBranding`: the file is neither PNG nor JPEG, is damaged, or is too large.',
      scope: 'Administer',
      params: idParams,
      body: members({
        bytes: bytes(MAX_READ_LOGO_BYTES).meta({
          description: 'Picture in PNG or JPEG, Base64.',
          exampleValue: 'iVBORw0KGgo=',
        }),
      }),
      responses,
      examples: { request: { bytes: PIXEL } },
      refusals: ['OrganizationNotFound', 'InvalidBranding'],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        return json(200, bodyOf(await branding.setLogo(tenant, body.bytes)));
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/organizations/{id}/branding/logo',
      group: 'Organizations',
      summary: 'Removes the logo.',
      description: 'The reply is also 200 when there is no logo.',
      scope: 'Administer',
      params: idParams,
      responses,
      refusals: ['OrganizationNotFound'],
      async handle({ tenant, params }) {
        requireOwn(tenant, params.id);
        return json(200, bodyOf(await branding.setLogo(tenant, null)));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/{id}/branding/preview',
      group: 'Organizations',
      summary: 'Returns an e-mail with sample data; nothing is sent.',
      description:
        'For an editor of texts: the e-mail as its recipient would see it, with the stored branding. Texts that are left out are the stored ones. Nothing is stored. `InvalidBranding`: a placeholder is unknown.',
      scope: 'Administer',
      params: idParams,
      body: members({
        kind: word(BRANDED_MAILS),
        subject,
        introduction,
        language: word(LANGUAGES).nullish().describe('That of the organization when absent.'),
      }),
      responses: {
        200: z
          .strictObject({ subject: z.string(), text: z.string(), html: z.string() })
          .meta({ id: 'MailPreview' }),
      },
      examples: { request: { kind: 'pending', subject: 'Please sign' } },
      refusals: ['OrganizationNotFound', 'InvalidBranding'],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        const shown = await branding.preview(tenant, {
          kind: body.kind,
          subject: body.subject ?? null,
          introduction: body.introduction ?? null,
          language: body.language ?? undefined,
        });
        return json(200, { subject: shown.subject, text: shown.text, html: shown.html });
      },
    }),
  ];
}

function bodyOf(branding: BrandingContext): z.infer<typeof brandingShape> {
  const { primaryColor, headerColor, logo, mailTexts, redirectUrl, redirectOrigins } = branding;
  return {
    ...{ primaryColor, headerColor, redirectUrl, redirectOrigins: [...redirectOrigins] },
    logo: logo === null ? null : { contentType: logo.contentType, width: logo.width, height: logo.height },
    mailTexts: BRANDED_MAILS.flatMap((kind) => {
      const wording = mailTexts[kind];
      return wording === undefined ? [] : [{ kind, ...wording }];
    }),
  };
}
