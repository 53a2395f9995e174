/** The creation request of a template, its people and its values. Source: docs/decisions/0120-templates.md. */
import type { NewFlowAction } from '../../../contracts/portal/flow.ts';
import type {
  TemplateDocuments,
  TemplateReplacements,
} from '../../../contracts/portal/saved-requests/templates.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { Millis } from '../../../machines/ids.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { DocumentTemplate } from '../../../machines/portal/portal-types.ts';
import type { RequestVersion } from '../../../machines/portal/saved-request.ts';
import type { CreateDocuments } from '../api/documents.ts';
import { withFieldValues, withRoles } from '../saved-requests/flow-roles.ts';

/** A version of a template, ready for its people: the request with the caller's members, and its files. */
export interface TemplateInUse {
  readonly template: DocumentTemplate;
  readonly request: CreateDocuments;
  readonly uploads: RequestVersion['uploads'];
}

/** The request with the members that the caller sends in place of its own. Refusals: `BadRequest` for the name. */
export function withProperties(
  template: CreateDocuments,
  expirationDays: number | null,
  { properties, documentName }: TemplateReplacements,
  at: Millis,
): CreateDocuments {
  const given = Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== null && value !== undefined),
  );
  const request = {
    ...template,
    ...(expirationDays !== null && {
      expirationDate: (Math.floor(at / DAY_MS) + expirationDays + 1) * DAY_MS - 1,
    }),
    ...given,
  };
  return documentName === null ? request : withName(request, documentName);
}

/** The request for the documents of these people. Refusals: `InvalidFlowAction`, `InvalidFieldValue`. */
export function withPeople(
  request: CreateDocuments,
  { participants, fieldValues }: Pick<TemplateDocuments, 'participants' | 'fieldValues'>,
): CreateDocuments {
  const flowActions = withRoles(request.flowActions, participants, false);
  return withFieldValues({ ...request, flowActions }, fieldValues);
}

/** Refusals: `BadRequest` for several documents. */
export function withName(request: CreateDocuments, name: string): CreateDocuments {
  if (request.isEnvelope === true) return { ...request, envelopeName: name };
  if (request.files.length > 1) throw badField('DocumentName', 'needs a template of one document');
  return { ...request, files: request.files.map((file) => ({ ...file, displayName: name })) };
}

/** Roles that somebody must take, each once. */
export function rolesOf(actions: readonly NewFlowAction[]): readonly string[] {
  const open = actions.filter(({ user, type }) => !user && type !== 'SignRule' && type !== 'ApproverRule');
  if (open.some(({ title }) => !title?.trim()))
    throw new PortalRefusal('InvalidFlowAction', 'A flow action of a template needs a title or a user.');
  return [...new Set(open.map(({ title }) => title?.trim() ?? ''))];
}

/** The request as it can be checked before anybody takes a role: read-only fields may still lack their values. */
export function withStandIns(request: CreateDocuments, roles: readonly string[]): CreateDocuments {
  // An identifier that every format takes, and a number for actions that require a code by telephone.
  const user = { email: 'participant@example.org', phone: '+12025550100' };
  const participants = roles.map((role) => ({ role, user }));
  const filled = withPeople(request, { participants, fieldValues: {} });
  return {
    ...filled,
    flowActions: filled.flowActions.map((action) => ({
      ...action,
      fields: action.fields?.map((field) => (hasValue(field) ? field : { ...field, readOnly: false })),
    })),
  };
}

function hasValue({ value }: { readonly value?: unknown }): boolean {
  return value !== undefined && value !== null && value !== '';
}
