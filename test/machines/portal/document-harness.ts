/** Documents, participants and actions for tests of the flow, as short as a test can say them. */
import type { DocumentInput } from '../../../machines/portal/documents/document-context.ts';
import type { ActionPlan, Participant } from '../../../machines/portal/portal-types.ts';

export function person(id: string): Participant {
  return {
    id: id as Participant['id'],
    name: `Person ${id}`,
    identifier: null,
    email: `${id}@example.org`,
    phone: null,
  };
}

export function plan(id: string, given: Partial<ActionPlan> = {}): ActionPlan {
  return {
    id: id as ActionPlan['id'],
    type: 'Signer',
    step: 0,
    user: null,
    title: null,
    allowElectronicSignature: false,
    marks: [],
    ruleName: null,
    numberRequiredSignatures: 1,
    ruleUsers: [],
    allowRuleFlowToContinueIfRefused: false,
    confirmations: [],
    disableEmailAuthentication: false,
    requiredCertificateType: null,
    requiredCertificateHolder: null,
    requireCompanyCertificate: null,
    requiredCompanyIdentifier: null,
    initialsMode: null,
    xadesOptions: null,
    ...given,
  };
}

export function documentInput(given: Partial<DocumentInput> = {}): DocumentInput {
  return {
    id: '00000000-0000-4000-8000-000000000001' as DocumentInput['id'],
    organization: {
      id: '00000000-0000-4000-8000-0000000000aa' as DocumentInput['organization']['id'],
      name: 'Org',
    },
    createdBy: { id: '00000000-0000-4000-8000-0000000000bb', type: 'Application', name: 'App' },
    order: 1,
    key: 'ABCDEFGHIJ0123456789',
    name: 'Contract',
    isEnvelope: false,
    description: null,
    folderId: null,
    expirationDate: null,
    actions: [],
    observers: [],
    attachments: [],
    notifiedEmails: ['told@example.org'],
    tags: [],
    type: null,
    signatureType: null,
    additionalInfo: null,
    forceCadesSignature: false,
    timestampEnabled: false,
    disableNotifications: false,
    quietStart: false,
    siblings: [],
    at: 1000,
    file: {
      uploadId: null,
      displayName: 'Contract',
      name: 'contract.pdf',
      contentType: 'application/pdf',
      blob: { sha256: 'a'.repeat(64), length: 9 },
      md5: 'x',
    },
    format: 'Pades',
    parts: [],
    ...given,
  };
}
