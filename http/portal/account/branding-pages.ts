/** `/organization/branding`: logo, colors, texts of mails and the page after signing. Source: docs/decisions/0130-branding.md. */

import { z } from 'zod';
import type { BrandingService, SignedInUser } from '../../../actors/portal/api.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  MAX_INTRODUCTION,
  MAX_SUBJECT,
} from '../../../contracts/portal/branding.ts';
import type { AccountNotice, AccountPage } from '../../../web/pages/portal/account-frame.ts';
import { brandingPage } from '../../../web/pages/portal/branding-view.tsx';
import { filled } from '../../../web/pages/portal/texts.ts';
import { page as pageReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formLines, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply } from './outcomes.ts';

const PATH = '/organization/branding';

/** A mail has inline styles and nothing else; what it names is not loaded. */
const MAIL_HEADERS = [
  [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  ],
  ['X-Robots-Tag', 'noindex'],
] as const;

export function brandingPageRoutes(branding: BrandingService): readonly AnyRoute[] {
  return [
    pageRoute(branding),
    previewRoute(branding),
    looksRoute(branding),
    mailRoute(branding),
    removeLogoRoute(branding),
  ];
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
  branding: BrandingService,
  page: AccountPage,
  user: SignedInUser,
  { kind, notice }: { readonly kind: BrandedMail; readonly notice: AccountNotice | undefined },
) {
  const shown = {
    branding: await branding.get(user.tenant),
    preview: await previewOf(branding, page, user, kind),
    placeholders: branding.placeholdersOf(kind),
  };
  return accountReply(200, brandingPage(page, user, { ...shown, kind, notice }));
}

function pageRoute(branding: BrandingService): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for administrators: the branding of the organization.',
    handle: ({ page, user, query }) =>
      show(branding, page, user, { kind: kindOf(query['kind']), notice: doneNotice(page, query) }),
  });
}

function previewRoute(branding: BrandingService): AnyRoute {
  return accountGet({
    path: `${PATH}/preview`,
    summary: 'A page for administrators: a mail with sample data, as it looks in a mail program.',
    description: 'Stores and sends nothing.',
    async handle({ page, user, query }) {
      const { html } = await previewOf(branding, page, user, kindOf(query['kind']));
      return pageReply(200, html, MAIL_HEADERS);
    },
  });
}

function looksRoute(branding: BrandingService): AnyRoute {
  return accountForm({
    path: `${PATH}/looks`,
    summary: 'Changes colors and the page after signing.',
    description: 'The rules are those of `PUT /api/organizations/{id}/branding`.',
    body: z.object({
      primaryColor: formText,
      headerColor: formText,
      redirectOrigins: formLines(10_000),
      redirectUrl: formText,
    }),
    async act({ page, user, body }) {
      const { mailTexts } = await branding.get(user.tenant);
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
      return doneReply(page, PATH, 'brandingSaved');
    },
    again: (notice, { page, user }) => show(branding, page, user, { kind: 'pending', notice }),
    sent: ({ page, body }) => ({
      action: `${PATH}/looks`,
      values: body,
      faults: {
        PrimaryColor: ['primaryColor', colorFault(page, branding.usableShade(body.primaryColor))],
        HeaderColor: ['headerColor', page.texts.faults.color],
        RedirectOrigins: ['redirectOrigins', page.texts.faults.redirectOrigins],
        RedirectUrl: ['redirectUrl', page.texts.faults.redirectUrl],
      },
    }),
  });
}

function mailRoute(branding: BrandingService): AnyRoute {
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
    again: (notice, { page, user, body }) => show(branding, page, user, { kind: kindOf(body.kind), notice }),
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

function removeLogoRoute(branding: BrandingService): AnyRoute {
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
