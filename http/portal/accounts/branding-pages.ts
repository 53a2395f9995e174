/** `/organization/branding`: logo, colors, texts of mails and the page after signing. Source: docs/decisions/0130-branding.md. */

import { z } from 'zod';
import { sampleContract } from '../../../actors/index.ts';
import {
  type Administration,
  type BrandingService,
  callerName,
  type SignedInUser,
} from '../../../actors/portal/api.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  MAX_INTRODUCTION,
  MAX_SUBJECT,
} from '../../../contracts/portal/words.ts';
import { pageBrandingOf } from '../../../machines/portal/branding.ts';
import type { AccountNotice, AccountPage } from '../../../web/pages/portal/account-frame.ts';
import { brandingPage } from '../../../web/pages/portal/accounts/branding-view.tsx';
import {
  SAMPLE_CONTRACT,
  sampleSigningPage,
} from '../../../web/pages/portal/accounts/sample-signing-page.ts';
import { filled } from '../../../web/pages/portal/texts.ts';
import { asset, assetReply } from '../../core/asset.ts';
import { page as pageReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { plainQuery } from '../pages/page-options.ts';
import { pageHeaders } from '../pages/page-policy.ts';
import { portalRoute } from '../route.ts';
import { accountGet, accountPost, formLines, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply } from './outcomes.ts';

const PATH = '/organization/branding';

/** Address of the logo in a mail. */
const LOGO_PART = 'cid:logo@branding';

/** A mail has inline styles and its logo and nothing else; what else it names is not loaded. */
const MAIL_HEADERS = [
  [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'",
  ],
  // It would forbid the frame that the policy allows.
  ['X-Frame-Options', ''],
  ['X-Robots-Tag', 'noindex'],
] as const;

interface BrandingPages {
  readonly branding: BrandingService;
  readonly administration: Pick<Administration, 'replyTo' | 'setReplyTo' | 'assertReplyTo'>;
}

export function brandingPageRoutes(pages: BrandingPages): readonly AnyRoute[] {
  return [
    pageRoute(pages),
    previewRoute(pages),
    signingPageRoute(pages),
    colorsRoute(pages),
    sampleRoute(),
    looksRoute(pages),
    mailRoute(pages),
    removeLogoRoute(pages),
  ];
}

/** Colors and words as they are typed: of an address. What cannot be used there is refused. */
const typedQuery = z.object({
  primarycolor: z.string().max(20).catch(''),
  headercolor: z.string().max(20).catch(''),
  subject: z.string().max(MAX_SUBJECT).catch(''),
  introduction: z.string().max(MAX_INTRODUCTION).catch(''),
});

function colorsIn(query: { readonly [name: string]: unknown }) {
  const { primarycolor, headercolor } = typedQuery.parse(query);
  return { primaryColor: primarycolor || null, headerColor: headercolor || null };
}

function previewOf(branding: BrandingService, page: AccountPage, user: SignedInUser, kind: BrandedMail) {
  return branding.preview(user.tenant, {
    kind,
    subject: null,
    introduction: null,
    language: page.words.language,
  });
}

async function show(
  { branding, administration }: BrandingPages,
  page: AccountPage,
  user: SignedInUser,
  { kind, notice }: { readonly kind: BrandedMail; readonly notice: AccountNotice | undefined },
) {
  const shown = {
    branding: await branding.get(user.tenant),
    preview: await previewOf(branding, page, user, kind),
    placeholders: branding.placeholdersOf(kind),
    replyTo: await administration.replyTo(user.tenant.organization.id),
  };
  const html = brandingPage(page, user, { ...shown, kind, notice });
  return pageReply(200, html, pageHeaders('none', 'own', true));
}

function pageRoute(pages: BrandingPages): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for administrators: the branding of the organization.',
    handle: ({ page, user, query }) =>
      show(pages, page, user, { kind: kindOf(query['kind']), notice: doneNotice(page, query) }),
  });
}

function previewRoute({ branding }: BrandingPages): AnyRoute {
  return accountGet({
    path: `${PATH}/preview`,
    summary: 'A page for administrators: a mail with sample data, as it looks in a mail program.',
    description:
      'With the words and colors of the address in place of the stored ones. Stores and sends nothing.',
    async handle({ page, user, query }) {
      const { subject, introduction } = typedQuery.parse(query);
      const { language } = page.words;
      const isTyped = 'subject' in query;
      const hasIntroduction = 'introduction' in query;
      const { html } = await branding.preview(
        user.tenant,
        {
          kind: kindOf(query['kind']),
          language,
          subject: isTyped ? subject : null,
          introduction: hasIntroduction ? introduction : null,
        },
        isTyped ? colorsIn(query) : undefined,
      );
      const { logo } = await branding.get(user.tenant);
      // The picture is a part of a mail that is sent.
      const shown =
        logo === null ? html : html.replaceAll(LOGO_PART, `data:${logo.contentType};base64,${logo.bytes}`);
      return pageReply(200, shown, MAIL_HEADERS);
    },
  });
}

/** The page that participants see, of a sample; it is shown in a frame beside the form. */
function signingPageRoute({ branding }: BrandingPages): AnyRoute {
  return accountGet({
    path: `${PATH}/signing-page`,
    summary: 'A page for administrators: the signing page with a sample contract.',
    description: 'Its link is that of no participant, so nothing can be signed on it.',
    async handle({ page, user }) {
      const { organization } = user.tenant;
      const look = pageBrandingOf(await branding.get(user.tenant), organization);
      return pageReply(200, sampleSigningPage(page, organization.name, look), pageHeaders('self'));
    },
  });
}

/** Colors that are being typed. Nobody needs a session: they are those of the address. */
function colorsRoute({ branding }: BrandingPages): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: `${PATH}/colors.css`,
    group: 'Pages',
    summary: 'The stylesheet of the colors in the address, for the page of the branding.',
    description: 'Stores nothing. A color without enough contrast is answered by its nearest shade.',
    auth: 'anonymous',
    headers: ['if-none-match'],
    query: plainQuery.loose(),
    responses: { 200: 'asset' },
    refusals: [],
    handle: ({ query, header }) =>
      assetReply(
        asset('text/css; charset=utf-8', branding.stylesheetOf(colorsIn(query))),
        header('if-none-match'),
      ),
  });
}

function sampleRoute(): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: SAMPLE_CONTRACT,
    group: 'Pages',
    summary: 'The sample contract that the page of the branding shows.',
    description: 'The same for everybody.',
    auth: 'anonymous',
    headers: ['if-none-match'],
    responses: { 200: 'asset' },
    refusals: [],
    handle: ({ header }) => assetReply(asset('application/pdf', sampleContract()), header('if-none-match')),
  });
}

function looksRoute(pages: BrandingPages): AnyRoute {
  const { branding, administration } = pages;
  return accountForm({
    path: `${PATH}/looks`,
    summary: 'Changes colors, the page after signing and the address for questions.',
    description: 'The rules are those of `PUT /api/organizations/{id}/branding`.',
    body: z.object({
      replyTo: formText,
      primaryColor: formText,
      headerColor: formText,
      redirectOrigins: formLines(10_000),
      redirectUrl: formText,
    }),
    async act({ page, user, body }) {
      const { tenant } = user;
      const replyTo = body.replyTo.trim() || null;
      // A form that is refused changes nothing.
      administration.assertReplyTo(replyTo);
      const { mailTexts } = await branding.get(tenant);
      await branding.replace(user.tenant, {
        mailTexts,
        primaryColor: body.primaryColor.trim() || null,
        headerColor: body.headerColor.trim() || null,
        redirectUrl: body.redirectUrl.trim() || null,
        redirectOrigins: body.redirectOrigins
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      });
      await administration.setReplyTo(tenant.organization.id, replyTo, callerName(tenant));
      return doneReply(page, PATH, 'brandingSaved');
    },
    again: (notice, { page, user }) => show(pages, page, user, { kind: 'pending', notice }),
    sent: ({ page, body }) => ({
      action: `${PATH}/looks`,
      values: body,
      faults: {
        PrimaryColor: ['primaryColor', colorFault(page, branding.usableShade(body.primaryColor))],
        HeaderColor: ['headerColor', page.texts.faults.color],
        ReplyTo: ['replyTo', page.texts.faults.email],
        RedirectOrigins: ['redirectOrigins', page.texts.faults.redirectOrigins],
        RedirectUrl: ['redirectUrl', page.texts.faults.redirectUrl],
      },
    }),
  });
}

function mailRoute(pages: BrandingPages): AnyRoute {
  const { branding } = pages;
  return accountForm({
    path: `${PATH}/mail`,
    summary: 'Changes the texts of one kind of mail.',
    description: 'The rules are those of `PUT /api/organizations/{id}/branding`.',
    body: z.object({
      kind: formText,
      subject: z.string().max(MAX_SUBJECT).default(''),
      introduction: formLines(MAX_INTRODUCTION),
    }),
    async act({ page, user, body }) {
      const kind = kindOf(body.kind);
      const { logo: _, ...settings } = await branding.get(user.tenant);
      const { [kind]: __, ...others } = settings.mailTexts;
      const words = {
        subject: body.subject.trim() || null,
        introduction: body.introduction.trim() || null,
      };
      const isOwn = words.subject !== null || words.introduction !== null;
      const mailTexts = { ...others, ...(isOwn && { [kind]: words }) };
      await branding.replace(user.tenant, { ...settings, mailTexts });
      return doneReply(page, `${PATH}?kind=${kind}`, 'brandingSaved');
    },
    again: (notice, { page, user, body }) => show(pages, page, user, { kind: kindOf(body.kind), notice }),
    sent: ({ page, body }) => ({
      action: `${PATH}/mail`,
      values: body,
      faults: {
        Subject: ['subject', page.texts.faults.wording],
        Introduction: ['introduction', page.texts.faults.wording],
      },
    }),
  });
}

function removeLogoRoute(pages: BrandingPages): AnyRoute {
  const { branding } = pages;
  return accountPost({
    path: `${PATH}/logo-removal`,
    summary: 'Removes the logo.',
    description: 'Pages and mails show the name of the organization in its place.',
    body: z.object({}),
    async handle({ page, user }) {
      await branding.setLogo(user.tenant, null);
      return doneReply(page, PATH, 'brandingSaved');
    },
  });
}

/** Names the fault of a color of buttons. @param shade the nearest one with enough contrast; undefined: it is no color */
function colorFault({ texts: { faults } }: AccountPage, shade: string | undefined): string {
  return shade === undefined ? faults.color : filled(faults.contrast, { shade });
}

function kindOf(given: unknown): BrandedMail {
  return BRANDED_MAILS.find((kind) => kind === given) ?? 'pending';
}
