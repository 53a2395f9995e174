/** Views of a document on the pages of its participants and observers. */

import type { Calls } from '@sealwright/runtime';
import { MAX_PASSED_ON } from '../../../contracts/portal/signing/passing-on.ts';
import type { CodeKind } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import { pageBrandingOf, redirectOf } from '../../../machines/portal/branding.ts';
import { deputyIn } from '../../../machines/portal/documents/deputy-acts.ts';
import type { DocumentContext, Turn } from '../../../machines/portal/documents/document-context.ts';
import { isOfTurn, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import { conditionsOf, knownValues, testsOf } from '../../../machines/portal/documents/flow-conditions.ts';
import { withoutOrigin } from '../../../machines/portal/documents/tagged-content.ts';
import { documentType, type FlowAction, type Participant } from '../../../machines/portal/portal-types.ts';
import type { PageSignature, SigningPageView } from '../api/signing.ts';
import { brandingOf } from '../branding/branding.ts';
import { participantOf, type ReadDocument } from '../document-records/document-reader.ts';
import { publicAttachments } from '../renditions/attachments.ts';
import { roleKey } from '../saved-requests/flow-roles.ts';

export function pageDocument({
  state,
  context,
}: Pick<ReadDocument, 'state' | 'context'>): NonNullable<SigningPageView['document']> {
  const signatures = pageSignatures(context);
  return {
    id: context.id,
    key: context.key,
    name: context.name,
    description: context.description,
    mimeType: documentType(context),
    length: context.current.length,
    isEnvelope: context.isEnvelope,
    organizationName: context.organization.name,
    senderName: context.createdBy.type === 'User' ? context.createdBy.name : null,
    expirationDate: context.expirationDate,
    isNewVersion: context.version > 1,
    version: context.version,
    statusReason: context.statusUpdateReason,
    endedBy: context.statusUpdatedBy?.name ?? null,
    changedAt: context.updateDate,
    attachments: publicAttachments(context.attachments).map(({ id, file }) => ({
      id,
      name: file.displayName,
    })),
    signatures,
    isApproved: state === 'Concluded' && signatures.length === 0,
    warnings: context.file.warnings ?? [],
    requireReading: context.requireReading === true,
    isSignedBeside: context.signatures !== null,
    ...(signatures.length === 0 && context.covers && { covers: context.covers }),
  };
}

/** Look of the organization's pages, and where they lead to. */
export async function lookOf(
  actors: Pick<Calls, 'read'>,
  organization: DocumentContext['organization'],
  returnUrl?: string,
): Promise<Pick<SigningPageView, 'branding' | 'redirectUrl'>> {
  const stored = await brandingOf(actors, organization.id);
  const redirectUrl = redirectOf(returnUrl === undefined ? stored : { ...stored, redirectUrl: returnUrl });
  return { branding: pageBrandingOf(stored, organization), redirectUrl };
}

/** The page that a link for anybody names for its visitor. */
export function returnOf(
  { publicLink }: DocumentContext,
  named: { readonly action: Pick<FlowAction, 'title'> } | undefined,
): string | undefined {
  if (named === undefined || publicLink === undefined) return undefined;
  return roleKey(named.action.title ?? '') === roleKey(publicLink.role) ? publicLink.returnUrl : undefined;
}

/** @param you absent for an observer */
export function pageParticipants(
  context: DocumentContext,
  you?: Turn,
): NonNullable<SigningPageView['participants']> {
  const { actions, made } = context;
  return actions.flatMap((action) =>
    usersOf(action).map((user) => {
      const turn = { flowActionId: action.id, userId: user.id };
      const deputy = deputyIn(context, turn);
      return {
        name: user.name ?? user.email,
        type: action.type,
        step: action.step,
        status: action.status,
        isYou: you !== undefined && isOfTurn(you, turn),
        ...(deputy && { deputy: deputy.name }),
        ...atOf(made.find((one) => isOfTurn(one, turn))),
      };
    }),
  );
}

function atOf(made: DocumentContext['made'][number] | undefined): { readonly at?: Millis } {
  return made === undefined ? {} : { at: made.at };
}

function pageSignatures(context: DocumentContext): readonly PageSignature[] {
  return context.made.flatMap((made) => {
    const { kind, at } = made;
    const user = participantOf(context, made);
    const name = user?.name ?? made.evidence?.typedName ?? user?.email ?? null;
    return kind === 'approval' ? [] : [{ name, kind, at }];
  });
}

export function pageAction(
  { action, user }: { readonly action: FlowAction; readonly user: Participant },
  context: Pick<DocumentContext, 'actions' | 'made'>,
  codes: readonly CodeKind[],
  { enrolment, passkey }: Pick<NonNullable<SigningPageView['action']>, 'enrolment' | 'passkey'>,
): NonNullable<SigningPageView['action']> {
  const { id, name, identifier, email, phone } = user;
  return {
    flowActionId: action.id,
    userId: id,
    type: action.type,
    title: action.title,
    allowElectronicSignature: action.allowElectronicSignature,
    participant: { id, name, identifier, email, phone },
    marks: action.marks.map(withoutOrigin),
    codes: codes.map((channel) => ({ channel, to: toOf(channel, user) })),
    ...(enrolment !== undefined && { enrolment }),
    ...(passkey !== undefined && { passkey }),
    initialsMode: action.initialsMode ?? 'None',
    ...(mayPassOn(action) && { mayPassOn: true }),
    ...(action.fields !== undefined && { fields: action.fields, known: knownTo(action.fields, context) }),
  };
}

/** Values of others that decide about the fields; of a file only that there is one. */
function knownTo(
  fields: NonNullable<FlowAction['fields']>,
  context: Pick<DocumentContext, 'actions' | 'made'>,
): NonNullable<NonNullable<SigningPageView['action']>['known']> {
  const own = new Set(fields.map(({ name }) => name));
  const tests = fields.flatMap(conditionsOf).flatMap(testsOf);
  const named = new Set(tests.map(({ field }) => field).filter((name) => !own.has(name)));
  if (named.size === 0) return [];
  return [...knownValues(context)].flatMap(([name, { type, value }]) =>
    named.has(name) ? [[name, { type, value: type === 'Attachment' && value !== '' ? 'file' : value }]] : [],
  );
}

function mayPassOn({ allowPassingOn, passedOn = [], user }: FlowAction): boolean {
  return allowPassingOn === true && user !== null && passedOn.length < MAX_PASSED_ON;
}

function toOf(channel: CodeKind, { email, phone }: Participant): string {
  if (channel === 'AuthenticatorApp') return '';
  return channel === 'Email' ? masked(email ?? '') : `***${phone?.slice(-2) ?? ''}`;
}

/** `ana.souza@example.org` → `a***a@example.org`. */
function masked(email: string): string {
  const at = email.lastIndexOf('@');
  const box = email.slice(0, at);
  return `${box.slice(0, 1)}***${box.length > 2 ? box.slice(-1) : ''}${email.slice(at)}`;
}
