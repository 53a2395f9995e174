/**
 * Actions of participants. Certificate signatures, which take two calls, are in `signing-certificates.ts`.
 *
 * Source: docs/portal-values.md §§9, 10.
 */
import { holderIdentifiers } from '@sealwright/signatures';
import type {
  CompletedSignature,
  ElectronicSigning,
  FieldUpload,
  StartedSignature,
} from '../../../contracts/portal/signing/signing.ts';
import { type CodeChannel, PHONE_CHANNELS } from '../../../contracts/portal/words.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { isSigning, requestedUsers } from '../../../machines/portal/documents/document-flow.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { RequestOrigin, Tenant } from '../api/callers.ts';
import type { MailboxAccess, SigningAccess } from '../api/signing.ts';
import {
  applicationPrincipal,
  participantPrincipal,
  recordAction,
  sendToDocument,
  wrongStatus,
} from '../document-records/document-messages.ts';
import { type DocumentDirectory, documentOf } from '../document-records/document-reader.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import type { BlobSink } from '../uploads/blob-sink.ts';
import type { Blobs } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { EarlySignatures } from './early-signatures.ts';
import type { FieldFile, FieldUploads } from './field-uploads.ts';
import { type PassingNeeds, passOn } from './passing-on.ts';
import { signatureImage } from './signature-images.ts';
import {
  assertRead,
  assertTurn,
  type ConfirmedCodes,
  documentForKey,
  evidenceOf,
  neededCodes,
  type SigningCall,
  signingCall,
} from './signing-access.ts';
import type { CertificateSigning } from './signing-certificates.ts';
import type { SigningCodes } from './signing-codes.ts';
import { marksOf, type PageCounts, valuesOf } from './signing-fields.ts';

type ByTicket = Extract<SigningAccess, { readonly by: 'ticket' }>;
type Quiet = { readonly disableNotifications?: boolean | null | undefined };

/** People of a document whose factors are looked for. */
const MAX_HOLDERS = 100;

/** The code was confirmed when the session began. */
const BY_MAILBOX: ConfirmedCodes = { kinds: ['Email'] };

export class Signing {
  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      readonly blobs: Blobs;
      readonly pool: Pick<SigningPool, 'run'>;
      readonly directory: DocumentDirectory;
      readonly early: EarlySignatures;
      readonly links: SigningLinks;
      readonly codes: SigningCodes;
      readonly uploads: Pick<Uploads, 'findUpload'>;
      readonly certificates: CertificateSigning;
      readonly fieldUploads: FieldUploads;
      readonly files: PageCounts;
      readonly plans: PassingNeeds['plans'];
    },
  ) {}

  /**
   * Resolves when a ticket, or the token of a certificate signature, is good for the document with this key.
   * Refusals: `InvalidTicket`, `DocumentIsDeleted`.
   */
  async checkAccess(
    access: ByTicket | { readonly by: 'token'; readonly key: string; readonly token: string },
  ): Promise<void> {
    // The version that the caller saw is in the part of the body that is checked later.
    if (access.by === 'ticket') await this.#call(access, { changes: false });
    else await this.needs.certificates.startedBy(access.key, access.token);
  }

  /**
   * Resolves when the participant of the ticket may upload a file for this field now.
   * Refusals: `InvalidTicket`, `DocumentIsDeleted`, `InvalidDocumentStatus`, `InvalidFieldValue`, `LimitExceeded`.
   */
  async checkFieldUpload(access: ByTicket, field: string): Promise<void> {
    // The version that the participant has seen is compared at the signature.
    const call = await this.#call(access, { changes: false });
    await this.needs.fieldUploads.check(call, field);
  }

  /**
   * Takes the file, whose id only this participant can give as the value of a field. The sink is used up in any case.
   * Refusals: those of `checkFieldUpload`, `BadRequest` for a file without bytes, `PayloadTooLarge`.
   */
  acceptFieldUpload(access: ByTicket, field: string, sink: BlobSink, file: FieldFile): Promise<FieldUpload> {
    const call = () => this.#call(access, { changes: false });
    return this.needs.fieldUploads.accept(call, field, sink, file);
  }

  /** First of two steps of a signature with a certificate. */
  async startCertificate(
    access: SigningAccess,
    request: Parameters<CertificateSigning['start']>[1],
  ): Promise<StartedSignature> {
    const call = await this.#call(access, { holder: holderOf(request.certificate) });
    return this.needs.certificates.start(call, request);
  }

  /**
   * Second of two steps; adds the signature. Refusals: `InvalidTicket` for an unknown, used or expired token.
   * @param access `token`: authorizes by the token alone
   */
  async completeCertificate(
    access: SigningAccess | { readonly by: 'token'; readonly key: string },
    request: Quiet & { readonly token: string; readonly signature: Buffer },
    origin: RequestOrigin,
  ): Promise<CompletedSignature> {
    const { certificates, directory } = this.needs;
    if (access.by === 'token')
      return certificates.complete(await certificates.startedBy(access.key, request.token), request, origin);
    if (access.by === 'ticket') {
      // A participant's link completes only what this participant started; an API key acts for the organization.
      const call = await this.#call(access);
      return certificates.complete(call, request, origin, call.turn);
    }
    const document = await documentForKey(access, directory);
    const call = certificates.startedFor(document, request.token, access.tenant.application);
    return certificates.complete(call, request, origin);
  }

  /** Resolves once the signature is durable and, unless that takes long, in place. */
  async signElectronically(
    access: SigningAccess | MailboxAccess,
    signing: ElectronicSigning,
    origin: RequestOrigin,
  ): Promise<void> {
    const { clock, ids } = this.needs.runtime;
    const call = await this.#call(access);
    if (!isSigning(call.action) || !call.action.allowElectronicSignature)
      throw new PortalRefusal('InvalidFlowAction', 'This participant does not sign electronically.');
    await this.needs.certificates.assertNotDemanded(call);
    assertTurn(call);
    assertRead(call.context, signing.reading);
    const image = await signatureImage(this.needs, call, signing);
    const { positions, initialsPositions: initials } = signing;
    const marks = await marksOf(call, { positions, initials }, this.needs.files);
    const hasInitials = marks.some(({ type }) => type === 'SignatureInitials');
    if (call.action.initialsMode === 'Required' && call.context.format === 'Pades' && !hasInitials)
      throw new PortalRefusal('InvalidFlowAction', 'This participant has to put initials.');
    // Before the codes: one of an app would be used up by a refused value.
    const filledIn = await valuesOf(call, signing.fieldValues, {
      runtime: this.needs.runtime,
      uploads: this.needs.uploads,
      blobs: this.needs.blobs,
    });
    const confirmed = call.mailbox
      ? BY_MAILBOX
      : await this.needs.codes.confirm(call, signing, () => this.#record(call, 'code-wrong', origin));
    const id = ids.uuid();
    const { context, turn } = call;
    const { geolocation, typedName, timeZoneOffset, reading } = signing;
    const told = { geolocation, typedName, timeZoneOffset, reading, ...filledIn };
    const { evidence, evidenceSha256 } = evidenceOf(call, origin, {
      signing: told,
      confirmed,
      at: clock.now(),
    });
    const message = {
      type: 'SIGN',
      id,
      flowActionId: turn.flowActionId,
      userId: turn.userId,
      marks,
      image,
      version: context.version,
      ...(call.actionDate !== undefined && { actionDate: call.actionDate }),
      evidence,
      evidenceSha256,
      isQuiet: signing.disableNotifications === true,
      ...filledIn,
    } as const;
    // A code that was right is used up, and so is the answer of a passkey.
    const isUsedUp =
      call.mailbox === undefined && (confirmed.kinds.length > 0 || confirmed.passkeySince !== undefined);
    await this.needs.early.sign(context, message, isUsedUp);
  }

  async approve(
    access: SigningAccess | MailboxAccess,
    origin: RequestOrigin,
    { disableNotifications, reading }: Quiet & Pick<ElectronicSigning, 'reading'> = {},
  ): Promise<void> {
    const { actors, clock } = this.needs.runtime;
    const call = await this.#call(access);
    if (isSigning(call.action))
      throw new PortalRefusal('InvalidFlowAction', 'This participant signs and does not approve.');
    assertTurn(call);
    assertRead(call.context, reading);
    const evidence = evidenceOf(call, origin, {
      signing: { reading },
      confirmed: call.mailbox ? BY_MAILBOX : { kinds: [] },
      at: clock.now(),
    });
    const { version } = call.context;
    const message = {
      type: 'APPROVE',
      ...call.turn,
      version,
      ...(call.actionDate !== undefined && { actionDate: call.actionDate }),
      ...evidence,
      isQuiet: disableNotifications === true,
    } as const;
    await sendToDocument(actors, call.context.id, message, wrongStatus);
  }

  async refuse(access: SigningAccess, reason: string, origin: RequestOrigin): Promise<void> {
    const call = await this.#call(access);
    assertTurn(call);
    const doneBy = participantPrincipal(call.user, origin);
    const message = { type: 'REFUSE_TURN', ...call.turn, reason, doneBy } as const;
    await sendToDocument(this.needs.runtime.actors, call.context.id, message, wrongStatus);
  }

  /** Hands the action on to another person. Refusals: those of the operation. */
  async passOn(
    access: SigningAccess,
    given: Parameters<typeof passOn>[2],
    origin: RequestOrigin,
  ): Promise<void> {
    const call = await this.#call(access);
    const onWrong = () => this.#record(call, 'code-wrong', origin);
    await passOn(this.needs, call, given, { origin, onWrong });
  }

  /** Records that the participant opened the document and, with `reachedEnd`, saw its end. Refusals: `InvalidTicket`. */
  async recordView(access: ByTicket, reachedEnd: boolean, origin: RequestOrigin): Promise<void> {
    await this.#record(await this.#call(access, { changes: false }), 'opened', origin);
    if (reachedEnd) await this.#record(await this.#call(access, { changes: false }), 'viewed', origin);
  }

  async #record(
    call: SigningCall,
    action: 'opened' | 'viewed' | 'code-wrong',
    origin: RequestOrigin,
  ): Promise<void> {
    const { user, turn } = call;
    await recordAction(this.needs.runtime, call, {
      action,
      principal: participantPrincipal(user, origin),
      flowActionId: turn.flowActionId,
      emailAddress: user.email,
    });
  }

  /** Sends a six-digit code to the participant's address, or to the telephone where the action requires that. */
  async sendCode(access: SigningAccess, channel: CodeChannel, resend: boolean): Promise<void> {
    await this.needs.codes.send(await this.#call(access), channel, resend);
  }

  /** The same for an application, which names the action alone. Refusals: `FlowActionNotFound`. */
  async sendPhoneCode(
    tenant: Tenant,
    flowActionId: SigningCall['turn']['flowActionId'],
    resend: boolean,
  ): Promise<void> {
    const documentId = await this.needs.codes.documentOf(tenant.organization.id, flowActionId);
    const call = await this.#call({ by: 'key', tenant, documentId, flowActionId });
    const channel = PHONE_CHANNELS.find((one) => neededCodes(call).includes(one)) ?? 'Sms';
    await this.needs.codes.send(call, channel, resend);
  }

  /** Requests to the browser of the participant. Refusals: `InvalidFlowAction`. */
  async passkeyOptions(access: SigningAccess): ReturnType<SigningCodes['passkeyOptions']> {
    return this.needs.codes.passkeyOptions(await this.#call(access));
  }

  /** Removes app and passkeys of the participant. Refusals: `FlowActionNotFound`. */
  async resetApp(
    tenant: Tenant,
    flowActionId: SigningCall['turn']['flowActionId'],
    {
      userId,
      documentId: given,
    }: { readonly userId?: string; readonly documentId?: DocumentContext['id'] } = {},
  ): Promise<void> {
    const documentId = given ?? (await this.needs.codes.documentOf(tenant.organization.id, flowActionId));
    const named = userId === undefined ? {} : { userId: userId as SigningCall['turn']['userId'] };
    const call = await this.#call({ by: 'key', tenant, documentId, flowActionId, ...named });
    // Recorded first: a crash between the two leaves a line too many, not one too few.
    await this.needs.codes.resetApp(call, tenant, () =>
      recordAction(this.needs.runtime, call, {
        action: 'authenticator-reset',
        principal: applicationPrincipal(tenant),
        detail: call.user.email,
        flowActionId,
      }),
    );
  }

  /** People whose turn it is and who have an app or passkeys, by id; of the first `MAX_HOLDERS` people. Refusals: `DocumentNotFound`, `DocumentIsDeleted`. */
  async factorHolders(tenant: Tenant, documentId: DocumentContext['id']): Promise<ReadonlySet<string>> {
    const { context } = await documentOf(this.needs.directory, tenant, documentId);
    const pending = context.actions.filter(({ status }) => status === 'Pending');
    return this.needs.codes.factorHolders(context, pending.flatMap(requestedUsers).slice(0, MAX_HOLDERS));
  }

  #call(
    access: SigningAccess | MailboxAccess,
    options?: Parameters<typeof signingCall>[3],
  ): Promise<SigningCall> {
    return signingCall(access, this.needs.directory, this.needs.links, options);
  }
}

/** Identifiers of the certificate holder; empty when it cannot be read, which validation reports later. */
function holderOf(certificate: Buffer): readonly string[] {
  try {
    return holderIdentifiers(certificate);
  } catch {
    return [];
  }
}
