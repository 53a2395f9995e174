/** Signing, approving and refusing: with an application's key, or with a participant's ticket. */
import {
  FIELD_FILE_HEADER_BYTES,
  type Signing,
  type SigningAccess,
  type Tenant,
  type Uploads,
} from '../../../actors/portal/api.ts';
import {
  passkeyOptions,
  resetAuthenticatorApp,
} from '../../../contracts/portal/signing/authenticator-apps.ts';
import { passOn } from '../../../contracts/portal/signing/passing-on.ts';
import {
  approve,
  completeCertificateSignature,
  MAX_FIELD_FILE_BYTES,
  recordView,
  refuseAsParticipant,
  type SigningMethod,
  sendEmailCode,
  sendSmsCode,
  signElectronically,
  startCertificateSignature,
  uploadForField,
} from '../../../contracts/portal/signing/signing.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute, CredentialRequest } from '../../core/router.ts';
import { requestOriginOf, requireRole, requireTenant } from '../access-check.ts';
import { handle } from '../handle.ts';
import { documentId, flowActionId, userId } from '../input/ids.ts';
import { readUploadForm } from '../input/upload-form.ts';
import type { PortalRequest } from '../route.ts';
import { storing, streamOf } from '../routes/uploads.ts';

interface Named {
  readonly flowActionId?: string | null | undefined;
  readonly ticket?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly documentVersion?: number | null | undefined;
}

export function signingRoutes(signing: Signing, uploads: Uploads): readonly AnyRoute[] {
  const checks = new TicketChecks(signing);
  return [
    ...signatureRoutes(signing, checks),
    ...answerRoutes(signing, checks),
    ...proofRoutes(signing, checks),
    fieldUploadRoute(signing, uploads),
  ];
}

class TicketChecks {
  constructor(private readonly signing: Pick<Signing, 'checkAccess'>) {}

  /** Refusals: `InvalidTicket`, `DocumentIsDeleted`, `Unauthorized`, `Forbidden`. */
  readonly withTicket = async ({
    params,
    credentials,
    identity,
  }: CredentialRequest<SigningMethod, Tenant>): Promise<void> => {
    // With the document's id the access check has required a key.
    if (params.key === undefined) return;
    const { ticket } = credentials;
    if (ticket !== undefined) await this.signing.checkAccess({ by: 'ticket', key: params.key, ticket });
    else requireRole(requireTenant(identity), 'application');
  };

  /** As above, and without key and ticket the token of the first step. */
  readonly withTicketOrToken = async (request: CredentialRequest<SigningMethod, Tenant>): Promise<void> => {
    const { params, credentials, identity } = request;
    const { ticket, token } = credentials;
    const isAlone = params.key !== undefined && ticket === undefined && identity === undefined;
    if (!isAlone || token === undefined) return this.withTicket(request);
    await this.signing.checkAccess({ by: 'token', key: params.key, token });
  };
}

/** Electronic signatures, and signatures with a certificate in two steps. */
function signatureRoutes(
  signing: Signing,
  { withTicket, withTicketOrToken }: TicketChecks,
): readonly AnyRoute[] {
  return [
    ...signElectronically.map((operation) =>
      handle(
        operation,
        async (request) => {
          const { image, ...given } = request.body;
          // Bytes that another thread decoded are not a `Buffer`.
          const picture = image && Buffer.from(image.buffer, image.byteOffset, image.byteLength);
          const origin = requestOriginOf(request);
          await signing.signElectronically(accessOf(request), { image: picture, ...given }, origin);
        },
        { authorize: withTicket },
      ),
    ),
    ...startCertificateSignature.map((operation) =>
      handle(operation, async (request) => signing.startCertificate(accessOf(request), request.body), {
        authorize: withTicket,
      }),
    ),
    ...completeCertificateSignature.map((operation) =>
      handle(
        operation,
        async (request) => {
          const { params, body, identity } = request;
          // Clients send only the token, which suffices without key and ticket.
          const isAlone =
            params.key !== undefined && identity === undefined && typeof body.ticket !== 'string';
          const who = isAlone ? ({ by: 'token', key: params.key } as const) : accessOf(request);
          return signing.completeCertificate(who, body, requestOriginOf(request));
        },
        { authorize: withTicketOrToken },
      ),
    ),
  ];
}

/** Answers of a participant without a signature, and what was read. */
function answerRoutes(signing: Signing, { withTicket }: TicketChecks): readonly AnyRoute[] {
  return [
    handle(
      approve,
      async (request) => signing.approve(accessOf(request), requestOriginOf(request), request.body),
      { authorize: withTicket },
    ),
    handle(
      refuseAsParticipant,
      async (request) => signing.refuse(accessOf(request), request.body.reason, requestOriginOf(request)),
      { authorize: withTicket },
    ),
    handle(
      passOn,
      async (request) => signing.passOn(accessOf(request), request.body, requestOriginOf(request)),
      { authorize: withTicket },
    ),
    handle(
      recordView,
      async (request) => {
        const who = accessOf(request);
        if (who.by !== 'ticket') throw new PortalRefusal('InvalidTicket');
        await signing.recordView(who, request.body.reachedEnd ?? false, requestOriginOf(request));
      },
      { authorize: withTicket },
    ),
  ];
}

/** Codes and passkeys by which participants prove who they are. */
function proofRoutes(signing: Signing, { withTicket }: TicketChecks): readonly AnyRoute[] {
  return [
    handle(
      sendEmailCode,
      async (request) => {
        const { channel, resend } = request.body;
        await signing.sendCode(accessOf(request), channel ?? 'Email', resend ?? false);
      },
      { authorize: withTicket },
    ),
    handle(sendSmsCode, ({ tenant, body }) =>
      signing.sendPhoneCode(tenant, flowActionId(body.flowActionId), body.resend ?? false),
    ),
    handle(
      passkeyOptions,
      async (request) => {
        const { request: known, creation } = await signing.passkeyOptions(accessOf(request));
        return {
          request: known === undefined ? null : JSON.stringify(known),
          creation: creation === undefined ? null : JSON.stringify(creation),
        };
      },
      { authorize: withTicket },
    ),
    handle(resetAuthenticatorApp, ({ tenant, body }) =>
      signing.resetApp(tenant, flowActionId(body.flowActionId), {
        ...(body.userId != null && { userId: body.userId }),
        ...(body.documentId != null && { documentId: documentId(body.documentId) }),
      }),
    ),
  ];
}

function fieldUploadRoute(signing: Signing, uploads: Uploads): AnyRoute {
  return handle(uploadForField, async ({ params, query: { ticket, field }, header, stream, identity }) => {
    const body = streamOf({ stream });
    if (ticket === undefined) {
      requireRole(requireTenant(identity), 'application');
      throw new PortalRefusal('InvalidTicket');
    }
    const access = { by: 'ticket', key: params.key, ticket } as const;
    await signing.checkFieldUpload(access, field);
    const start = new FileStart();
    const { sink, name } = await readUploadForm(body, {
      contentType: header('content-type'),
      contentLength: header('content-length'),
      maxBytes: MAX_FIELD_FILE_BYTES,
      open: () => uploads.open(),
      watch: start,
    });
    const file = { name, header: start.bytes };
    return storing(sink, () => signing.acceptFieldUpload(access, field, sink, file));
  });
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
      by: 'ticket',
      key,
      ticket: body.ticket,
      ...(typeof body.documentVersion === 'number' && { documentVersion: body.documentVersion }),
    };
  return {
    by: 'key-of-document',
    tenant: request.tenant,
    key,
    flowActionId: action,
    ...(who !== undefined && { userId: who }),
  };
}

/** Copies the first bytes of a file. */
class FileStart {
  bytes: Buffer = Buffer.alloc(0);

  update(bytes: Buffer): void {
    const missing = FIELD_FILE_HEADER_BYTES - this.bytes.length;
    if (missing > 0) this.bytes = Buffer.concat([this.bytes, bytes.subarray(0, missing)]);
  }

  restart(): void {
    this.bytes = Buffer.alloc(0);
  }
}
