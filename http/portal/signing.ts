/**
 * Signing, approving and refusing: with an application's key, or with a ticket as participants have it.
 *
 * Source: portal-gaps §9 (end) and §10.
 */
import { z } from 'zod';
import type { PortalSigning, SigningAccess, SigningScene } from '../../actors/portal/api.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../machines/portal-refusals.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { flag, maybeFlag, members, text, uuid } from './fields.ts';
import { documentId, flowActionId, idParams, keyParams, userId } from './ids.ts';
import { DONE, type PortalRequest, portalRoute } from './route.ts';
import { validationResultsBody, validationResultsShape } from './shapes/signatures.ts';
import { access, completeInput, electronicInput, electronicSigning, startInput } from './signing-inputs.ts';

const startedShape = z.strictObject({
  success: z.boolean(),
  token: z.string().nullable(),
  toSignHash: z.string().nullable().describe('Base64.'),
  toSign: z.string().nullable().describe('What the hash is of, Base64; null when it is too large to send.'),
  digestAlgorithm: z.string().nullable(),
  validationResults: validationResultsShape,
});

const completedShape = z.strictObject({ success: z.boolean(), validationResults: validationResultsShape });

const REFUSALS = [
  'DocumentNotFound',
  'DocumentInvalidKey',
  'DocumentIsDeleted',
  'FlowActionNotFound',
  'InvalidDocumentStatus',
  'InvalidFlowAction',
  'InvalidTicket',
] as const satisfies readonly PortalRefusalCode[];

const ELECTRONIC = ['InvalidAuthenticationCode', 'SigningFailed', 'UploadNotFound'] as const;
const CERTIFICATE = [
  'CertificateNotFound',
  'CpfMismatch',
  'CpfNotExpected',
  'DocumentUnreadable',
  'SigningFailed',
] as const;

/** What is added to the description of a route that is reached in one of two ways. */
const TWO_WAYS = [
  {
    prefix: '/api/documents/{id}',
    auth: 'application',
    by: 'with a key',
    params: idParams.transform(({ id }) => ({ id, key: undefined })),
    refusals: [],
  },
  {
    prefix: '/api/documents/keys/{key}',
    auth: 'known-or-ticket',
    by: 'with a ticket',
    params: keyParams.transform(({ key }) => ({ key, id: undefined })),
    refusals: ['Unauthorized', 'Forbidden'],
  },
] as const;

type Way = { readonly id: string | undefined; readonly key: string | undefined };
type Named = {
  readonly flowActionId?: string | null | undefined;
  readonly ticket?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly documentVersion?: number | null | undefined;
};

export function signingRoutes(signing: PortalSigning): readonly AnyRoute[] {
  return [
    ...TWO_WAYS.flatMap(({ prefix, auth, by, params, refusals }) => [
      portalRoute({
        method: 'POST',
        path: `${prefix}/electronic-signature`,
        summary: `Signs electronically, ${by}.`,
        auth,
        headers: ['user-agent'],
        params: params as z.ZodType<Way>,
        body: electronicInput,
        responses: { 200: 'empty' },
        refusals: [...REFUSALS, ...ELECTRONIC, ...refusals],
        async handle(request) {
          const who = accessOf(request);
          await signing.signElectronically(who, electronicSigning(request.body), sceneOf(request));
          return DONE;
        },
      }),
      portalRoute({
        method: 'POST',
        path: `${prefix}/signature/certificate`,
        summary: `Begins a signature with a certificate whose key stays with the participant, ${by}.`,
        auth,
        params: params as z.ZodType<Way>,
        body: startInput,
        responses: { 200: startedShape },
        refusals: [...REFUSALS, ...CERTIFICATE, ...refusals],
        async handle(request) {
          const { certificate, signaturePosition, signaturePositions } = request.body;
          const started = await signing.startCertificate(accessOf(request), {
            certificate,
            positions: signaturePositions ?? (signaturePosition ? [signaturePosition] : []),
          });
          return json(200, {
            success: started.success,
            token: started.token,
            toSignHash: base64OrNull(started.toSignHash),
            toSign: base64OrNull(started.toSign),
            digestAlgorithm: started.digestAlgorithm,
            validationResults: validationResultsBody(started.validationResults),
          });
        },
      }),
      portalRoute({
        method: 'POST',
        path: `${prefix}/signature`,
        summary: `Completes a signature with a certificate, ${by}.`,
        auth,
        headers: ['user-agent'],
        params: params as z.ZodType<Way>,
        body: completeInput,
        responses: { 200: completedShape },
        refusals: [...REFUSALS, ...CERTIFICATE, ...refusals],
        async handle(request) {
          const { token, signature, disableNotifications } = request.body;
          const { params, body, identity } = request;
          // Clients send the token alone; with neither key nor ticket it is all there is.
          const isAlone =
            params.key !== undefined && identity === undefined && typeof body.ticket !== 'string';
          const done = await signing.completeCertificate(
            isAlone ? { by: 'token', key: params.key } : accessOf(request),
            { token, signature, disableNotifications: disableNotifications ?? undefined },
            sceneOf(request),
          );
          return json(200, {
            success: done.success,
            validationResults: validationResultsBody(done.validationResults),
          });
        },
      }),
    ]),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/approval',
      summary: 'Approves, with a ticket.',
      auth: 'known-or-ticket',
      headers: ['user-agent'],
      params: keyParams.transform(({ key }): Way => ({ key, id: undefined })),
      body: members({ ...access, disableNotifications: maybeFlag }),
      responses: { 200: 'empty' },
      refusals: [...REFUSALS, 'Unauthorized', 'Forbidden'],
      async handle(request) {
        const disableNotifications = request.body.disableNotifications ?? undefined;
        await signing.approve(accessOf(request), sceneOf(request), { disableNotifications });
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/participant-refusal',
      summary: 'Refuses as a participant, with a ticket.',
      auth: 'known-or-ticket',
      headers: ['user-agent'],
      params: keyParams.transform(({ key }): Way => ({ key, id: undefined })),
      body: members({ ...access, reason: text }),
      responses: { 200: 'empty' },
      refusals: [...REFUSALS, 'Unauthorized', 'Forbidden'],
      async handle(request) {
        await signing.refuse(accessOf(request), request.body.reason, sceneOf(request));
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/keys/{key}/email-authentication-code',
      summary: 'Mails the participant a code of six digits.',
      auth: 'known-or-ticket',
      params: keyParams.transform(({ key }): Way => ({ key, id: undefined })),
      body: members({ ...access, resend: maybeFlag }),
      responses: { 200: 'empty' },
      refusals: [...REFUSALS, 'TooManyRequests', 'Unauthorized', 'Forbidden'],
      async handle(request) {
        await signing.sendEmailCode(accessOf(request), request.body.resend ?? false);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/sms-authentication-code',
      summary: 'Would send a code by SMS; this service has no way to, and says so.',
      body: members({ flowActionId: uuid, resend: flag.nullish() }),
      responses: { 200: 'empty' },
      refusals: ['InvalidFlowAction'],
      handle() {
        throw new PortalRefusal('InvalidFlowAction', 'This service sends no codes by SMS.');
      },
    }),
  ];
}

/** A ticket alone is enough, and a key that comes along is not looked at. Source: portal-gaps §1 row 14. */
function accessOf(request: PortalRequest<Way, unknown, Named>): SigningAccess {
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

function sceneOf({ caller, header }: PortalRequest<Way, unknown, unknown>): SigningScene {
  return { ipAddress: caller.address, userAgent: header('user-agent') };
}

function base64OrNull(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('base64');
}
