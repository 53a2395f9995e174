/** Page of the branding of an organization. */
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import type { MailPreview } from '../../../../contracts/portal/branding.ts';
import type { BrandedMail } from '../../../../contracts/portal/words.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { type BrandingContext, pageBrandingOf } from '../../../../machines/portal/branding.ts';
import { Island } from '../../../components/island.tsx';
import { PageHead } from '../../../components/surfaces.tsx';
import { Notice } from '../account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, personOf } from '../account-frame.ts';
import { logoImage } from '../page-frame.tsx';
import { BrandingEditor } from './branding-editor.tsx';

export interface BrandingPage {
  readonly branding: BrandingContext;
  readonly replyTo: string | null;
  /** The mail whose texts are edited. */
  readonly kind: BrandedMail;
  readonly preview: MailPreview;
  readonly placeholders: readonly string[];
  readonly notice: AccountNotice | undefined;
}

export function brandingPage(page: AccountPage, user: SignedInUser, shown: BrandingPage): string {
  const { branding: texts } = page.texts;
  const { organization } = user.tenant;
  const { branding, replyTo, kind, placeholders, notice } = shown;
  const { primaryColor, headerColor, redirectOrigins, redirectUrl, mailTexts } = branding;
  const { subject, introduction } = texts;
  const labels = {
    primaryColor: texts.primaryColor,
    headerColor: texts.headerColor,
    replyTo: texts.contact,
    redirectOrigins: texts.redirectOrigins,
    redirectUrl: texts.redirectUrl,
    subject,
    introduction,
  };
  const look = pageBrandingOf(branding, organization);
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={texts.title} />
        <Notice page={page} notice={notice} labels={labels} />
        <p class="muted">{texts.text}</p>
        <Island
          name="branding"
          of={BrandingEditor}
          props={{
            of: {
              page: { culture: page.culture },
              user: { formToken: user.formToken, role: user.role },
            },
            texts,
            organization: organization.name,
            branding: { primaryColor, headerColor, redirectOrigins, redirectUrl, mailTexts },
            logo: look && logoImage(look),
            replyTo: replyTo ?? '',
            kind,
            subject: shown.preview.subject,
            placeholders,
            notice,
          }}
        />
      </>
    ),
    script: 'branding.js',
    data: {
      formToken: user.formToken,
      userId: personOf(user),
      organization: organization.id,
      kind,
      language: page.words.language,
      words: TEXTS[page.words.language].senders.editor.script,
    },
  });
}
