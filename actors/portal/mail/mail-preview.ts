/** Mails with sample data, for organizations that write their own words. */
import type { DocumentId, FlowActionId, OrganizationId, UserId } from '../../../machines/ids.ts';
import type { BrandedMail, BrandingContext } from '../../../machines/portal/branding.ts';
import type { Language } from '../../../machines/portal/organization.ts';
import { renderMail } from './mail-rendering.ts';
import { mailBodyHtml, mailBodyText } from './templates/letter.ts';

const SAMPLE_ID = '00000000-0000-4000-8000-000000000000';
const SAMPLE_URL = 'https://portal.example/document/key/SAMPLE/sign?ticket=sample';
const SAMPLE_CODE = '123456';

const SAMPLES: {
  readonly [Name in Language]: Readonly<Record<'document' | 'description' | 'reason', string>>;
} = {
  en: {
    document: 'Rental agreement',
    description: 'Please answer this week.',
    reason: 'The amount is wrong.',
  },
  pt: {
    document: 'Contrato de aluguel',
    description: 'Responda esta semana, por favor.',
    reason: 'O valor está errado.',
  },
  es: {
    document: 'Contrato de alquiler',
    description: 'Responda esta semana, por favor.',
    reason: 'El importe es incorrecto.',
  },
};

/** Nothing of it is sent; the links lead nowhere. */
export function samplePreview(
  about: BrandedMail,
  organization: { readonly name: string; readonly language: Language; readonly branding: BrandingContext },
): { readonly subject: string; readonly text: string; readonly html: string } {
  const sample = SAMPLES[organization.language];
  const mail = renderMail(
    {
      about,
      to: { name: 'Ana Souza', email: 'ana@example.org' },
      document: {
        id: SAMPLE_ID as DocumentId,
        organizationId: SAMPLE_ID as OrganizationId,
        name: sample.document,
        key: 'SAMPLE',
        creationDate: 0,
        updateDate: 0,
        folderId: null,
        createdBy: { id: SAMPLE_ID, type: 'Application', name: organization.name },
        description: sample.description,
      },
      flowActionId: SAMPLE_ID as FlowActionId,
      userId: SAMPLE_ID as UserId,
      codeGeneration: 1,
      role: 'sign',
      reason: sample.reason,
      byName: 'Bo Lind',
      expirationDate: Date.UTC(2030, 0, 31),
    },
    {
      organization,
      links: {
        action: () => SAMPLE_URL,
        observer: () => SAMPLE_URL,
        check: () => SAMPLE_URL,
        signIn: () => SAMPLE_URL,
      },
      codeFor: () => SAMPLE_CODE,
    },
  );
  const { subject } = mail;
  return {
    subject,
    text: mailBodyText(mail),
    html: mailBodyHtml(mail, organization.language, { name: organization.name, ...organization.branding }),
  };
}
