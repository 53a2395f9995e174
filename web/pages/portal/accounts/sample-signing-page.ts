/** The signing page of a sample contract, which shows the look of an organization. */
import type { SigningPageView } from '../../../../actors/portal/api.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../../machines/ids.ts';
import type { PageBranding } from '../../../../machines/portal/branding.ts';
import type { AccountPage } from '../account-frame.ts';
import { signingPage } from '../signing-view.tsx';

export const SAMPLE_CONTRACT = '/organization/branding/sample-contract.pdf';

const ID = '00000000-0000-4000-8000-000000000000';

export function sampleSigningPage(
  { words, theme }: AccountPage,
  organizationName: string,
  branding: PageBranding | undefined,
): string {
  const participant = {
    id: ID as UserId,
    name: 'Ana Souza',
    email: 'ana@example.org',
    identifier: null,
    phone: null,
  };
  const view: SigningPageView = {
    state: 'ready',
    document: {
      id: ID as DocumentId,
      key: 'SAMPLE',
      name: TEXTS[words.language].senders.list.setup.sampleName,
      description: null,
      isEnvelope: false,
      expirationDate: null,
      version: 1,
      mimeType: 'application/pdf',
      length: 0,
      organizationName,
      isNewVersion: false,
      statusReason: null,
      endedBy: null,
      changedAt: 0,
    },
    action: {
      type: 'Signer',
      title: null,
      allowElectronicSignature: true,
      fields: [],
      flowActionId: ID as FlowActionId,
      userId: ID as UserId,
      participant,
      marks: [],
      codes: [],
      initialsMode: 'None',
    },
    participants: [{ type: 'Signer', step: 1, status: 'Pending', name: participant.name, isYou: true }],
    branding,
    embedOrigins: [],
  };
  const options = {
    embedded: false,
    notify: false,
    page: undefined,
    scale: undefined,
    hideDocument: false,
    refusing: false,
    theme,
  };
  const nowhere = '/organization/branding/signing-page';
  const addresses = {
    key: 'SAMPLE',
    ticket: 'sample',
    content: SAMPLE_CONTRACT,
    // White until the page is drawn.
    picture: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E',
    self: nowhere,
    newLink: nowhere,
    linkRequest: nowhere,
    passOn: nowhere,
    attachment: () => nowhere,
  };
  return signingPage(view, words, options, addresses);
}
