/**
 * What participants do. Implements `PortalSigning`; see `api.ts` for its promises. Certificate signatures, which take two
 * calls, are in `signing-certificates.ts`.
 *
 * Source: portal-gaps §§9, 10.
 */
import { holderIdentifiers } from '../../crypto/index.ts';
import { isSigning } from '../../machines/document-flow.ts';
import { summaryOf } from '../../machines/document-news.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { BlobRef } from '../../machines/portal-words.ts';
import type { ActorSystem, Clock, Faults, Ids } from '../../runtime/index.ts';
import type {
  ElectronicSigning,
  PortalSigning,
  SigningAccess,
  SigningPageView,
  SigningScene,
  StoredFile,
  Tenants,
} from './api.ts';
import type { Blobs } from './blobs.ts';
import { change, wrongStatus } from './document-changes.ts';
import type { DocumentDirectory } from './document-directory.ts';
import './document-faults.ts';
import { foldedKey } from './document-index.ts';
import { type DocumentWatch, settling } from './document-watch.ts';
import { reasonOf } from './documents.ts';
import { assertTurn, documentForKey, evidenceOf, type SigningCall, signingCall } from './signing-access.ts';
import type { CertificateSigning } from './signing-certificates.ts';
import type { SigningCodes } from './signing-codes.ts';
import type { SigningLinks } from './signing-links.ts';
import { marksOf } from './signing-marks.ts';
import { namedTurn, pageState } from './signing-turns.ts';
import type { Uploads } from './uploads.ts';

/** How long a call waits for an accepted signature to stand in its file, milliseconds. */
const PATIENCE = 10_000;
/** Pictures of signatures; ours. */
const LARGEST_IMAGE = 2 * 1024 * 1024;

export interface SigningParts {
  readonly system: ActorSystem;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly faults: Faults;
  readonly blobs: Blobs;
  readonly directory: DocumentDirectory;
  readonly watch: DocumentWatch;
  readonly links: SigningLinks;
  readonly codes: SigningCodes;
  readonly uploads: Pick<Uploads, 'findUpload'>;
  readonly tenants: Pick<Tenants, 'embedOrigins'>;
  readonly certificates: CertificateSigning;
}

export class SigningService implements PortalSigning {
  readonly startCertificate: PortalSigning['startCertificate'];
  readonly completeCertificate: PortalSigning['completeCertificate'];
  readonly #parts: SigningParts;

  constructor(parts: SigningParts) {
    this.#parts = parts;
    const { certificates } = parts;
    this.startCertificate = async (access, request) =>
      certificates.start(await this.#call(access, holderOf(request.certificate)), request);
    this.completeCertificate = async (access, request, scene) => {
      if (access.by === 'token')
        return certificates.complete(await certificates.begunBy(access.key, request.token), request, scene);
      if (access.by === 'ticket') {
        // A participant's link completes what this participant began; a key stands for the whole organization.
        const call = await this.#call(access);
        return certificates.complete(call, { ...request, of: call.turn }, scene);
      }
      const document = await documentForKey(access, parts.directory);
      const call = certificates.begunIn(document, request.token, access.tenant.application);
      return certificates.complete(call, request, scene);
    };
  }

  async page(key: string, text: string): Promise<SigningPageView> {
    const { links, directory, tenants } = this.#parts;
    const ticket = links.read(text);
    const document = ticket && (await directory.byId(ticket.documentId));
    if (!ticket || !document || document.context.key !== foldedKey(key))
      return { state: 'unknown', embedOrigins: [] };
    const { context } = document;
    const embedOrigins = await tenants.embedOrigins(context.organization.id);
    const state = pageState(document, ticket);
    // Who comes late to what is done is told so, and not that a ticket is over.
    if (state === 'unknown') return { state, embedOrigins };
    if (ticket.expired && (state === 'ready' || state === 'waiting-for-turn'))
      return { state: 'ticket-expired', embedOrigins };
    if (state === 'deleted') return { state, embedOrigins };
    const named = namedTurn(context, ticket);
    return {
      state,
      embedOrigins,
      isLinkOver: ticket.expired,
      document: {
        id: context.id,
        key: context.key,
        name: context.name,
        description: context.description,
        mimeType: context.file.contentType,
        isEnvelope: context.isEnvelope,
        organizationName: context.organization.name,
        expirationDate: context.expirationDate,
        isNewVersion: context.version > 1,
        version: context.version,
        statusReason: context.statusUpdateReason,
      },
      ...(named && { action: pageAction(named, ticket.needsEmailCode) }),
      participants: context.actions.flatMap((action) =>
        (action.user === null ? action.ruleUsers : [action.user]).map((user) => ({
          name: user.name,
          type: action.type,
          step: action.step,
          status: action.status,
          isYou: action.id === ticket.flowActionId && user.id === ticket.userId,
        })),
      ),
    };
  }

  async pageContent(key: string, ticket: string): Promise<StoredFile> {
    const { context } = await this.#call({ by: 'ticket', key, ticket });
    const { current, file } = context;
    return this.#parts.blobs.file(current, file.name, file.contentType);
  }

  async signElectronically(
    access: SigningAccess,
    signing: ElectronicSigning,
    scene: SigningScene,
  ): Promise<void> {
    const { system, clock, ids, watch, faults } = this.#parts;
    const call = await this.#call(access);
    if (!isSigning(call.action) || !call.action.allowElectronicSignature)
      throw new PortalRefusal('InvalidFlowAction', 'This participant does not sign electronically.');
    assertTurn(call);
    const image = await this.#image(call, signing);
    const marks = marksOf(call, signing.positions, signing.initialsPositions);
    const hasInitials = marks.some(({ type }) => type === 'SignatureInitials');
    if (call.action.initialsMode === 'Required' && call.context.format === 'Pades' && !hasInitials)
      throw new PortalRefusal('InvalidFlowAction', 'This participant has to put initials.');
    const isConfirmed = await this.#checkCode(call, signing.emailCode);
    const id = ids.uuid();
    const { context, turn } = call;
    const waiting = watch.next(context.id, settling(id), PATIENCE);
    try {
      await change(
        system,
        context.id,
        {
          type: 'SIGN',
          ...{ id, ...turn, marks, image, version: context.version },
          ...evidenceOf(call, scene, signing, isConfirmed, clock.now()),
          isQuiet: signing.disableNotifications === true,
        },
        wrongStatus,
      );
      await faults.at('portal.sign.accepted');
      // It is safe already; waiting only lets the answer come with the signature in its place.
      await waiting.document;
    } finally {
      waiting.cancel();
    }
  }

  async approve(
    access: SigningAccess,
    scene: SigningScene,
    { disableNotifications = false }: { readonly disableNotifications?: boolean | undefined } = {},
  ): Promise<void> {
    const { system, clock } = this.#parts;
    const call = await this.#call(access);
    if (isSigning(call.action))
      throw new PortalRefusal('InvalidFlowAction', 'This participant signs and does not approve.');
    assertTurn(call);
    const evidence = evidenceOf(call, scene, {}, false, clock.now());
    const { version } = call.context;
    const word = {
      type: 'APPROVE',
      ...{ ...call.turn, version, ...evidence },
      isQuiet: disableNotifications,
    } as const;
    await change(system, call.context.id, word, wrongStatus);
  }

  async refuse(access: SigningAccess, reason: string, _scene: SigningScene): Promise<void> {
    const call = await this.#call(access);
    assertTurn(call);
    const word = { type: 'REFUSE_TURN', ...call.turn, reason: reasonOf(reason) } as const;
    await change(this.#parts.system, call.context.id, word, wrongStatus);
  }

  async sendEmailCode(access: SigningAccess, resend: boolean): Promise<void> {
    const call = await this.#call(access);
    assertTurn(call);
    const { context, turn, user } = call;
    if (user.email === null)
      throw new PortalRefusal('InvalidFlowAction', 'The participant has no e-mail address.');
    const notice = {
      about: 'code',
      to: { name: user.name, email: user.email },
      document: summaryOf(context),
      ...turn,
    } as const;
    await this.#parts.codes.send({ documentId: context.id, ...turn }, notice, resend);
  }

  #call(access: SigningAccess, holder?: readonly string[]): Promise<SigningCall> {
    return signingCall(access, this.#parts, holder);
  }

  /** True when a code was given and is right. Refusals: `InvalidAuthenticationCode`. */
  async #checkCode(call: SigningCall, code: string | undefined): Promise<boolean> {
    const isGiven = code !== undefined && code.trim() !== '';
    if (!isGiven && !call.needsEmailCode) return false;
    if (!isGiven)
      throw new PortalRefusal('InvalidAuthenticationCode', 'The code that was sent by e-mail is needed.');
    await this.#parts.codes.check({ documentId: call.context.id, ...call.turn }, code);
    return true;
  }

  /** Refusals: `UploadNotFound`; `BadRequest` for what is no picture. */
  async #image(
    { context }: SigningCall,
    { imageUploadId, image }: Pick<ElectronicSigning, 'imageUploadId' | 'image'>,
  ): Promise<BlobRef | null> {
    if (imageUploadId !== undefined) {
      const upload = await this.#parts.uploads.findUpload(context.organization.id, imageUploadId);
      assertImage(upload.blob.length, /^image\/(?:png|jpe?g)$/i.test(upload.contentType));
      return upload.blob;
    }
    if (image === undefined || image.length === 0) return null;
    assertImage(image.length, isPicture(image));
    return (await this.#parts.blobs.put(image)).blob;
  }
}

/** Numbers of the holder; none when it cannot be read, which is told when it is judged. */
function holderOf(certificate: Buffer): readonly string[] {
  try {
    return holderIdentifiers(certificate);
  } catch {
    return [];
  }
}

function assertImage(length: number, isImage: boolean): void {
  if (!isImage) throw new PortalRefusal('BadRequest', 'The SignatureImage is neither PNG nor JPEG.');
  if (length > LARGEST_IMAGE)
    throw new PortalRefusal('BadRequest', `The SignatureImage has more than ${LARGEST_IMAGE} bytes.`);
}

/** By its first bytes. */
function isPicture(bytes: Buffer): boolean {
  return (
    bytes.subarray(0, 4).toString('hex') === '89504e47' || bytes.subarray(0, 3).toString('hex') === 'ffd8ff'
  );
}

function pageAction(
  { action, user }: Pick<SigningCall, 'action' | 'user'>,
  needsEmailCode: boolean,
): NonNullable<SigningPageView['action']> {
  const { id, name, identifier, email, phone } = user;
  return {
    flowActionId: action.id,
    userId: id,
    type: action.type,
    title: action.title,
    allowElectronicSignature: action.allowElectronicSignature,
    participant: { id, name, identifier, email, phone },
    marks: action.marks,
    needsEmailCode: needsEmailCode && action.allowElectronicSignature,
    maskedEmail: email && masked(email),
    initialsMode: action.initialsMode ?? 'None',
  };
}

/** `ana.souza@example.org` → `a***a@example.org`. */
function masked(email: string): string {
  const at = email.lastIndexOf('@');
  const box = email.slice(0, at);
  return `${box.slice(0, 1)}***${box.length > 2 ? box.slice(-1) : ''}${email.slice(at)}`;
}
