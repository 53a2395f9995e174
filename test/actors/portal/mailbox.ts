/** Notices and documents made by hand. */
import type { DocumentId, FlowActionId, OrganizationId, UserId } from '../../../machines/ids.ts';
import type { DocumentSummary, MailRequest } from '../../../machines/portal/portal-types.ts';

export const ORGANIZATION_1 = '11111111-1111-4111-8111-111111111111' as OrganizationId;
export const DOCUMENT_1 = 'dddddddd-dddd-4ddd-8ddd-dddddddddd01' as DocumentId;
export const ACTION_1 = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaa01' as FlowActionId;
export const USER_1 = 'eeeeeeee-eeee-4eee-8eee-eeeeeeeeee01' as UserId;

export function summary(more: Partial<DocumentSummary> = {}): DocumentSummary {
  return {
    id: DOCUMENT_1,
    organizationId: ORGANIZATION_1,
    name: 'Contract',
    key: 'ABCDEFGHIJ0123456789',
    creationDate: Date.UTC(2026, 0, 2),
    updateDate: Date.UTC(2026, 0, 3),
    folderId: null,
    createdBy: { id: '22222222-2222-4222-8222-222222222222', type: 'Application', name: 'Sales' },
    description: null,
    ...more,
  };
}

export function notice(
  about: MailRequest['about'],
  email: string,
  more: Partial<MailRequest> = {},
): MailRequest {
  return {
    about,
    to: { name: 'Ana Lima', email },
    document: summary(),
    flowActionId: ACTION_1,
    userId: USER_1,
    ...more,
  };
}
