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
import { flag, maybeFlag, members, text, uuid } from '../../../contracts/fields.ts';
import { ANA, EXAMPLE_IDS, REASON } from '../../../contracts/portal/examples.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute, CredentialRequest } from '../../core/router.ts';
import { requireRole, requireTenant } from '../access-check.ts';
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
    who: 'For applications that have identified the participant themselves; `flowActionId` names the action, by default the first pending one.',
    credential: 'The token names the action.',
    example: { flowActionId: EXAMPLE_IDS.flowAction },
    params: idParams.transform(({ id }) => ({ id, key: undefined })),
    refusals: [],
  },
  {
    prefix: '/api/documents/keys/{key}',
    auth: 'known-or-ticket',
    by: 'with a ticket',
    who: 'For the participant: needs the ticket of the link, or a key and `flowActionId`.',
    credential: 'The token names the action, and needs neither ticket nor key.',
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
    ...SIGNING_METHODS.flatMap(({ prefix, auth, by, who, credential, example, params, refusals }) => [
      portalRoute({
        method: 'POST',
        path: `${prefix}/electronic-signature`,
        group: 'Signing',
        summary: `Signs electronically, ${by}.`,
        description: `${who} The action may require a code (\`InvalidAuthenticationCode\`), initials, and values of fields (\`InvalidFieldValue\`). When the step is complete the next one begins, or the document is concluded; webhooks receive \`DocumentSigned\`. \`InvalidFlowAction\`: the action does not allow electronic signatures, or lacks initials. \`InvalidDocumentStatus\`: it is not the turn of the participant.`,
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
        summary: `Starts a signature with a certificate whose key stays with the participant, ${by}.`,
        description: `${who} Checks the certificate and prepares the file; nothing is signed yet. The reply has the hash that the key of the participant signs, with its \`digestAlgorithm\`, and the token for the second call, which can be used once within 10 minutes. \`success\` is false when the certificate is rejected; \`validationResults\` has the errors. \`CpfMismatch\`: the certificate belongs to another person. \`InvalidDocumentStatus\`: it is not the turn of the participant.`,
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
        description: `The second call, with the token of the first one and the signature value. ${credential} \`success\` is false when the value is not a signature of the hash by this certificate, and when another signature has changed the file meanwhile; the reply then has a new token and hash to sign. When the step is complete the next one begins, or the document is concluded; webhooks receive \`DocumentSigned\`. \`InvalidTicket\`: the token is unknown, used or expired.`,
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
      summary: 'Approves as a participant, with a ticket.',
      description:
        'For actions of the types Approver and ApproverRule. Needs the ticket of the link, or a key and `flowActionId`. When the step is complete the next one begins, or the document is concluded; webhooks receive `DocumentApproved`. `InvalidFlowAction`: the action is a signature. `InvalidDocumentStatus`: it is not the turn of the participant. `VersionChanged`: the link is older than the version of the document.',
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
        'Needs the ticket of the link, or a key and `flowActionId`. The flow stops; observers and the other participants whose turn had come receive the `reason` by e-mail, and webhooks receive `DocumentRefused`. In a rule with `allowRuleFlowToContinueIfRefused` the flow continues while enough people remain. `InvalidDocumentStatus`: it is not the turn of the participant.',
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
        'Sent by the signing page. Adds an entry to the history, at most one of each kind a day for each participant and IP address; the status does not change. Needs the ticket of the link.',
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
      summary: 'Sends the participant a code of six digits by e-mail.',
      description:
        'For links that require a code. It is valid for 10 minutes and five attempts. `TooManyRequests`: too many codes were sent within an hour.',
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
      summary: 'Refuses every request: this service sends no codes by SMS.',
      description:
        'Exists for clients that call it; the reply is `InvalidFlowAction`. Codes are sent by e-mail.',
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
