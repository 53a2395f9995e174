/** Mails with sample data, for organizations that write their own words. */
import type { MailPreview } from '../../../contracts/portal/branding.ts';
import type { BrandedMail, Language } from '../../../contracts/portal/words.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import type { DocumentId, FlowActionId, OrganizationId, UserId } from '../../../machines/ids.ts';
import type { BrandingContext } from '../../../machines/portal/branding.ts';
import type { MailContent } from '../../../machines/portal/mail.ts';
import { mailBodyHtml, mailBodyText } from './letter.ts';
import { renderMail } from './mail-rendering.ts';

const SAMPLE_ID = '00000000-0000-4000-8000-000000000000';
const SAMPLE_URL = 'https://portal.example/document/key/SAMPLE/sign?ticket=sample';
const SAMPLE_CODE = '123456';

/** Nothing of it is sent; the links lead nowhere. */
export function samplePreview(
  about: BrandedMail,
  organization: { readonly name: string; readonly language: Language; readonly branding: BrandingContext },
): MailPreview {
  const mail = renderMail(sampleContent(about, organization), {
    organization,
    links: {
      action: () => SAMPLE_URL,
      observer: () => SAMPLE_URL,
      check: () => SAMPLE_URL,
      signIn: () => SAMPLE_URL,
      waiting: () => SAMPLE_URL,
    },
    codeFor: () => SAMPLE_CODE,
  });
  const { subject } = mail;
  return {
    subject,
    text: mailBodyText(mail),
    html: mailBodyHtml(mail, organization.language, { name: organization.name, ...organization.branding }),
  };
}

function sampleContent(about: BrandedMail, { language }: { readonly language: Language }): MailContent {
  const sample = TEXTS[language].mails.sample;
  const to = { name: 'Ana Souza', email: 'ana@example.org' };
  const document = {
    id: SAMPLE_ID as DocumentId,
    organizationId: SAMPLE_ID as OrganizationId,
    name: sample.document,
    key: 'SAMPLE',
    creationDate: 0,
    updateDate: 0,
    folderId: null,
    createdBy: { id: SAMPLE_ID, type: 'User', name: 'Marta Reis' },
    description: sample.description,
  } as const;
  const participant = { flowActionId: SAMPLE_ID as FlowActionId, userId: SAMPLE_ID as UserId };
  if (about === 'sign-in')
    return { about, to, userId: participant.userId, linkId: SAMPLE_ID, expiresAt: Date.UTC(2030, 0, 31) };
  if (about === 'pending-list') {
    const second = { ...document, name: `${sample.document} 2` };
    return {
      about,
      to,
      documents: [
        { document, ...participant, role: 'sign' },
        { document: second, ...participant, role: 'approve' },
      ],
    };
  }
  return {
    about,
    to,
    document,
    ...participant,
    codeGeneration: 1,
    role: 'sign',
    reason: sample.reason,
    byName: 'Bo Lind',
    expirationDate: Date.UTC(2030, 0, 31),
  };
}
