/**
 * Signing, approving and refusing: with an application's key, or with a participant's ticket.
 *
 * Source: docs/portal-values.md §9 (end) and §10.
 */
import { z } from 'zod';
import type {
  PortalSigning,
  RequestOrigin,
  SigningAccess,
  StartedSignature,
  Tenant,
} from '../../../actors/portal/api.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute, CredentialRequest } from '../../core/router.ts';
import { requireRole, requireTenant } from '../access-check.ts';
import { ANA, EXAMPLE_IDS, REASON } from '../description/example-values.ts';
import { flag, maybeFlag, members, text, uuid } from '../input/fields.ts';
import { documentId, flowActionId, idParams, keyParams, userId } from '../input/ids.ts';
import {
  access,
  completeInput,
  electronicInput,
  electronicSigning,
  startInput,
} from '../input/signing-inputs.ts';
import { DONE, type PortalRequest, portalRoute } from '../route.ts';
import { validationResultsBody, validationResultsShape } from '../shapes/signatures.ts';

const startedShape = z.strictObject({
  success: z.boolean(),
  token: z.string().nullable(),
  toSignHash: z.string().nullable().describe('Base64.'),
  toSign: z.string().nullable().describe('What the hash is of, Base64; null when it is too large to send.'),
  digestAlgorithm: z.string().nullable(),
  validationResults: validationResultsShape,
});

const AGAIN =
  'Present when another signature has changed the file since the start: to sign and complete again.';

const completedShape = z.strictObject({
  success: z.boolean(),
  validationResults: validationResultsShape,
  token: z.string().nullable().optional().describe(AGAIN),
  toSignHash: startedShape.shape.toSignHash.optional(),
  toSign: startedShape.shape.toSign.optional(),
  digestAlgorithm: z.string().nullable().optional(),
});

const REFUSALS = [
  'DocumentNotFound',
  'DocumentInvalidKey',
  'DocumentIsDeleted',
  'FlowActionNotFound',
  'InvalidDocumentStatus',
  'InvalidFlowAction',
  'InvalidTicket',
  'VersionChanged',
] as const satisfies readonly PortalRefusalCode[];

const ELECTRONIC = [
  'InvalidAuthenticationCode',
  'InvalidFieldValue',
  'SigningFailed',
  'UploadNotFound',
] as const;
const CERTIFICATE = [
  'CertificateNotFound',
  'CpfMismatch',
  'CpfNotExpected',
  'DocumentUnreadable',
  'InvalidFieldValue',
  'SigningFailed',
  'UploadNotFound',
] as const;

/** Description of routes with two ways of authentication. */
const SIGNING_METHODS = [
  {
    prefix: '/api/documents/{id}',
    auth: 'application',
    by: 'with a key',
    who: 'For applications that have identified the participant themselves; `flowActionId` names the action.',
    example: { flowActionId: EXAMPLE_IDS.flowAction },
    params: idParams.transform(({ id }) => ({ id, key: undefined })),
    refusals: [],
  },
  {
    prefix: '/api/documents/keys/{key}',
    auth: 'known-or-ticket',
    by: 'with a ticket',
    who: 'For the participant: needs the ticket of the link. With a key in its place `flowActionId` names the action.',
    example: { ticket: EXAMPLE_IDS.ticket },
    params: keyParams.transform(({ key }) => ({ key, id: undefined })),
    refusals: ['Unauthorized', 'Forbidden'],
  },
] as const;

type SigningMethod = { readonly id: string | undefined; readonly key: string | undefined };
type Named = {
  readonly flowActionId?: string | null | undefined;
  readonly ticket?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly documentVersion?: number | null | undefined;
};

/** Maximum size of an electronic signature request, bytes: a picture of two MiB in Base64, and a thousand marks. */
const PICTURE_BODY_BYTES = 4 * 1024 * 1024;

export function signingRoutes(signing: PortalSigning): readonly AnyRoute[] {
  /** Refusals: `InvalidTicket`, `DocumentIsDeleted`, `Unauthorized`, `Forbidden`. */
  const withTicket = async ({ params, credentials, identity }: CredentialRequest<SigningMethod, Tenant>) => {
    // With the document's id the access check has required a key.
    if (params.key === undefined) return;
    const { ticket } = credentials;
    if (ticket !== undefined) await signing.checkAccess({ by: 'ticket', key: params.key, ticket });
    else requireRole(requireTenant(identity), 'application');
  };
  /** As above, and without key and ticket the token of the first step. */
  const withTicketOrToken = async (request: CredentialRequest<SigningMethod, Tenant>) => {
    const { params, credentials, identity } = request;
    const { ticket, token } = credentials;
    const isAlone = params.key !== undefined && ticket === undefined && identity === undefined;
    if (!isAlone || token === undefined) return withTicket(request);
    await signing.checkAccess({ by: 'token', key: params.key, token });
  };
  return [
    ...SIGNING_METHODS.flatMap(({ prefix, auth, by, who, example, params, refusals }) => [
      portalRoute({
        method: 'POST',
        path: `${prefix}/electronic-signature`,
        group: 'Signing',
        summary: `Signs electronically, ${by}.`,
        description: `${who} The participant may have to give a code (\`InvalidAuthenticationCode\`), marks and values of fields (\`InvalidFieldValue\`). The next step begins, or the document is concluded; webhooks get \`DocumentSigned\`. \`InvalidFlowAction\`: the action is not pending, or asks for a certificate.`,
        scope: 'Sign',
        folderKeys: true,
        auth,
        headers: ['user-agent'],
        params: params as z.ZodType<SigningMethod>,
        body: electronicInput,
        maxBodyBytes: PICTURE_BODY_BYTES,
        largeBody: 'electronic-signature',
        authorize: withTicket,
        responses: { 200: 'empty' },
        examples: { request: { ...example, typedName: ANA.name } },
        refusals: [...REFUSALS, ...ELECTRONIC, ...refusals],
        async handle(request) {
          const who = accessOf(request);
          await signing.signElectronically(who, electronicSigning(request.body), requestOriginOf(request));
          return DONE;
        },
      }),
      portalRoute({
        method: 'POST',
        path: `${prefix}/signature/certificate`,
        group: 'Signing',
        summary: `Begins a signature with a certificate whose key stays with the participant, ${by}.`,
        description: `${who} Checks the certificate and prepares the file; nothing is signed yet. The answer has the hash (SHA-256) that the participant's key signs, and the token for the second call, which is used once within 10 minutes. \`CpfMismatch\`: the certificate belongs to another person. \`success\` is false when \`validationResults\` has errors.`,
        scope: 'Sign',
        folderKeys: true,
        auth,
        params: params as z.ZodType<SigningMethod>,
        body: startInput,
        authorize: withTicket,
        responses: { 200: startedShape },
        examples: { request: { ...example, certificate: 'MIIDazCCAlOgAwIBAgIU' } },
        refusals: [...REFUSALS, ...CERTIFICATE, ...refusals],
        async handle(request) {
          const { certificate, signaturePosition, signaturePositions, fieldValues } = request.body;
          const started = await signing.startCertificate(accessOf(request), {
            certificate,
            positions: signaturePositions ?? (signaturePosition ? [signaturePosition] : []),
            fieldValues: fieldValues ?? undefined,
          });
          return json(200, {
            success: started.success,
            ...nextBody(started),
            validationResults: validationResultsBody(started.validationResults),
          });
        },
      }),
      portalRoute({
        method: 'POST',
        path: `${prefix}/signature`,
        group: 'Signing',
        summary: `Completes a signature with a certificate, ${by}.`,
        description: `${who} The second call: brings the token and the signature value. When another signature has changed the file meanwhile, the answer has a new token and hash to sign again. The next step begins, or the document is concluded; webhooks get \`DocumentSigned\`. \`SigningFailed\`: the value is not a signature of the hash by this certificate.`,
        scope: 'Sign',
        folderKeys: true,
        auth,
        headers: ['user-agent'],
        params: params as z.ZodType<SigningMethod>,
        body: completeInput,
        authorize: withTicketOrToken,
        responses: { 200: completedShape },
        examples: { request: { ...example, token: 'c2lnbmluZy10b2tlbg', signature: 'MEUCIQDx' } },
        refusals: [...REFUSALS, ...CERTIFICATE, ...refusals],
        async handle(request) {
          const { token, signature, disableNotifications } = request.body;
          const { params, body, identity } = request;
          // Clients send only the token, which suffices without key and ticket.
          const isAlone =
            params.key !== undefined && identity === undefined && typeof body.ticket !== 'string';
          const done = await signing.completeCertificate(
            isAlone ? { by: 'token', key: params.key } : accessOf(request),
            { token, signature, disableNotifications: disableNotifications ?? undefined },
            requestOriginOf(request),
          );
          return json(200, {
            success: done.success,
            validationResults: validationResultsBody(done.validationResults),
            ...(done.next && nextBody(done.next)),
          });
        },
      }),
    ]),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/approval',
      group: 'Signing',
      summary: 'Approves, with a ticket.',
      description:
        'For participants of the type Approver. Needs the ticket of the link, or a key and `flowActionId`. The next step begins, or the document is concluded; webhooks get `DocumentApproved`. `InvalidFlowAction`: the action is not pending or is not an approval. `VersionChanged`: the participant has seen an older version.',
      scope: 'Sign',
      folderKeys: true,
      auth: 'known-or-ticket',
      headers: ['user-agent'],
      params: keyParams.transform(({ key }): SigningMethod => ({ key, id: undefined })),
      body: members({ ...access, disableNotifications: maybeFlag }),
      authorize: withTicket,
      responses: { 200: 'empty' },
      examples: { request: { ticket: EXAMPLE_IDS.ticket } },
      refusals: [...REFUSALS, 'Unauthorized', 'Forbidden'],
      async handle(request) {
        const disableNotifications = request.body.disableNotifications ?? undefined;
        await signing.approve(accessOf(request), requestOriginOf(request), { disableNotifications });
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/participant-refusal',
      group: 'Signing',
      summary: 'Refuses as a participant, with a ticket.',
      description:
        'Needs the ticket of the link, or a key and `flowActionId`. The flow stops for everybody, the others are mailed the `reason`, and webhooks get `DocumentRefused`. `InvalidFlowAction`: the action is not pending.',
      scope: 'Sign',
      folderKeys: true,
      auth: 'known-or-ticket',
      headers: ['user-agent'],
      params: keyParams.transform(({ key }): SigningMethod => ({ key, id: undefined })),
      body: members({ ...access, reason: text }),
      authorize: withTicket,
      responses: { 200: 'empty' },
      examples: { request: { ticket: EXAMPLE_IDS.ticket, ...REASON } },
      refusals: [...REFUSALS, 'Unauthorized', 'Forbidden'],
      async handle(request) {
        await signing.refuse(accessOf(request), request.body.reason, requestOriginOf(request));
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/view',
      group: 'Signing',
      summary: 'Records that a participant has opened the document, or has seen its last page.',
      description:
        'Sent by the signing page. Writes a line of the history, at most one a day for each participant and address; it changes no status. Needs the ticket.',
      scope: 'Sign',
      folderKeys: true,
      auth: 'known-or-ticket',
      headers: ['user-agent'],
      params: keyParams.transform(({ key }): SigningMethod => ({ key, id: undefined })),
      body: members({ ...access, reachedEnd: maybeFlag }),
      authorize: withTicket,
      responses: { 200: 'empty' },
      examples: { request: { ticket: EXAMPLE_IDS.ticket, reachedEnd: true } },
      refusals: [...REFUSALS, 'Unauthorized', 'Forbidden'],
      async handle(request) {
        const who = accessOf(request);
        if (who.by !== 'ticket') throw new PortalRefusal('InvalidTicket');
        await signing.recordView(who, request.body.reachedEnd ?? false, requestOriginOf(request));
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/email-authentication-code',
      group: 'Signing',
      summary: 'Mails the participant a code of six digits.',
      description:
        'For actions that require a code. It is valid for 10 minutes and five tries. `TooManyRequests`: codes were asked for too often.',
      scope: 'Sign',
      folderKeys: true,
      auth: 'known-or-ticket',
      params: keyParams.transform(({ key }): SigningMethod => ({ key, id: undefined })),
      body: members({ ...access, resend: maybeFlag }),
      authorize: withTicket,
      responses: { 200: 'empty' },
      examples: { request: { ticket: EXAMPLE_IDS.ticket } },
      refusals: [...REFUSALS, 'TooManyRequests', 'Unauthorized', 'Forbidden'],
      async handle(request) {
        await signing.sendEmailCode(accessOf(request), request.body.resend ?? false);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/sms-authentication-code',
      group: 'Signing',
      summary: 'Would send a code by SMS; this service has no way to, and says so.',
      description:
        'Kept for clients that ask for it; every request is answered `InvalidFlowAction`. Codes are sent by e-mail.',
      scope: 'Sign',
      folderKeys: true,
      body: members({ flowActionId: uuid, resend: flag.nullish() }),
      responses: { 200: 'empty' },
      examples: { request: { flowActionId: EXAMPLE_IDS.flowAction } },
      refusals: ['InvalidFlowAction'],
      handle() {
        throw new PortalRefusal('InvalidFlowAction', 'This service sends no codes by SMS.');
      },
    }),
  ];
}

/** A ticket suffices, and an additional key is not read. Source: docs/portal-values.md §1 row 14. */
function accessOf(request: PortalRequest<SigningMethod, unknown, Named>): SigningAccess {
  const { params, body } = request;
  const action = typeof body.flowActionId === 'string' ? flowActionId(body.flowActionId) : undefined;
  const who = typeof body.userId === 'string' ? userId(body.userId) : undefined;
  if (params.id !== undefined) {
    return {
      by: 'key',
      tenant: request.tenant,
      documentId: documentId(params.id),
      flowActionId: action,
      ...(who !== undefined && { userId: who }),
    };
  }
  const key = params.key ?? '';
  if (typeof body.ticket === 'string')
    return {
      ...{ by: 'ticket', key, ticket: body.ticket },
      ...(typeof body.documentVersion === 'number' && { documentVersion: body.documentVersion }),
    };
  return {
    ...{ by: 'key-of-document', tenant: request.tenant, key, flowActionId: action },
    ...(who !== undefined && { userId: who }),
  };
}

function requestOriginOf({ caller, header }: PortalRequest<SigningMethod, unknown, unknown>): RequestOrigin {
  return { ipAddress: caller.address, userAgent: header('user-agent') };
}

function nextBody({
  token,
  toSignHash,
  toSign,
  digestAlgorithm,
}: Pick<StartedSignature, 'token' | 'toSignHash' | 'toSign' | 'digestAlgorithm'>) {
  return {
    ...{ token, digestAlgorithm },
    toSignHash: base64OrNull(toSignHash),
    toSign: base64OrNull(toSign),
  };
}

function base64OrNull(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('base64');
}
