/** Makes documents of uploads: one call, one flow, any number of files. Source: portal-gaps §§5, 21. */
import type { DocumentContext, DocumentInput } from '../../machines/document-context.ts';
import { summaryOf } from '../../machines/document-news.ts';
import type { DocumentId, FolderId, Millis } from '../../machines/ids.ts';
import { parsePortalId } from '../../machines/ids.ts';
import { plainLine, plainText } from '../../machines/plain-text.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { Attachment, Tag } from '../../machines/portal-words.ts';
import type { ActorSystem, Clock, Faults, Ids, Json } from '../../runtime/index.ts';
import type { JobOrder } from '../job-order.ts';
import type { CreateDocuments, CreatedDocument, PortalFolders, Tenant } from './api.ts';
import './document-faults.ts';
import { type DocumentFiles, MOST_DOCUMENTS, type PreparedFile } from './document-files.ts';
import { documentAddress, seededId } from './document-index.ts';
import { notifiedEmails, type PlanParts, planActions, planObservers } from './document-plans.ts';
import { planNamespaces } from './xades-plans.ts';

const DAY = 86_400_000;
/** Ours. */
const MOST_TAGS = 100;
const MOST_ATTACHMENTS = 20;
const LONGEST_DESCRIPTION = 10_000;

const KEY_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const KEY_LENGTH = 20;
/** Bytes from here on would make some letters likelier than others. */
const KEY_BYTES = 256 - (256 % KEY_LETTERS.length);

export interface DocumentCreationParts {
  readonly system: ActorSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly faults: Faults;
  readonly order: JobOrder;
  readonly files: DocumentFiles;
  readonly folders: Pick<PortalFolders, 'get' | 'create'>;
  readonly plans: PlanParts;
}

/** What all documents of one call have in common, checked. */
type SharedFacts = Pick<DocumentInput, 'expirationDate' | 'notifiedEmails' | 'xmlNamespaces'>;

/** A validation key: 20 letters and digits, each as likely as any other. */
export function makeKey(ids: Pick<Ids, 'bytes'>): string {
  let key = '';
  while (key.length < KEY_LENGTH) {
    for (const byte of ids.bytes(KEY_LENGTH)) {
      if (byte < KEY_BYTES && key.length < KEY_LENGTH) key += KEY_LETTERS[byte % KEY_LETTERS.length];
    }
  }
  return key;
}

export class DocumentCreation {
  readonly #parts: DocumentCreationParts;

  constructor(parts: DocumentCreationParts) {
    this.#parts = parts;
  }

  /** Resolves once all of them are durable. @param seed see `PortalDocuments.create` */
  async create(
    tenant: Tenant,
    request: CreateDocuments,
    seed?: string,
    generationId?: string,
  ): Promise<readonly CreatedDocument[]> {
    const { clock } = this.#parts;
    const at = clock.now();
    if (request.files.length === 0) throw required('Files');
    const shared = this.assertPossible(request, at);
    const attachments = await this.#attachments(tenant, request, at);
    const files = await this.#files(tenant, request);
    const inputs = files.map((prepared, index) => ({
      ...this.#input(tenant, request, prepared, { at, shared, attachments }),
      ...(seed !== undefined && { id: seededId(seed, index) }),
      ...(generationId !== undefined && { generationId }),
    }));
    for (const input of inputs) await this.#parts.files.assertSignable(input, input.actions);
    const before = seed === undefined ? undefined : await this.#madeBefore(inputs);
    // Nothing is made of a call that is refused for its folder, and no second folder for one that is done again.
    const folderId =
      before === undefined
        ? await this.folder(tenant, request.folderId ?? null, request.newFolderName ?? null)
        : before.folderId;
    const made = await this.#make(inputs.map((input) => ({ ...input, folderId })));
    return made.map((document, index) => ({
      uploadId: request.files[index]?.id ?? '',
      documentId: document.id,
      attachments: document.attachments.map(({ id, file }) => ({
        uploadId: file.uploadId ?? '',
        attachmentId: id,
      })),
    }));
  }

  /** Whether a call under this seed has made its first document. */
  async isMade(seed: string): Promise<boolean> {
    return (await this.#parts.system.read(documentAddress(seededId(seed, 0)))) !== undefined;
  }

  /** The folder a document goes to; null = none. Refusals: `FolderNotFound`. */
  async folder(tenant: Tenant, folderId: string | null, newName: string | null): Promise<string | null> {
    const { folders } = this.#parts;
    if (folderId !== null) {
      const id = parsePortalId('FolderId', folderId);
      if (id === undefined) throw new PortalRefusal('FolderNotFound');
      return (await folders.get(tenant, id satisfies FolderId)).id;
    }
    const name = newName?.trim() ?? '';
    return name === '' ? null : (await folders.create(tenant, name, null)).id;
  }

  async #files(tenant: Tenant, request: CreateDocuments): Promise<readonly PreparedFile[]> {
    const { files } = this.#parts;
    const organization = tenant.organization.id;
    const forceCades = request.forceCadesSignature === true;
    if (request.isEnvelope === true)
      return [await files.envelope(organization, request.files, request.envelopeName ?? '', forceCades)];
    if (request.files.length > MOST_DOCUMENTS)
      throw new PortalRefusal('LimitExceeded', `One call makes at most ${MOST_DOCUMENTS} documents.`);
    // All of them are looked at before the first is made.
    return Promise.all(request.files.map((file) => files.single(organization, file, forceCades)));
  }

  /** What is checked without any file. Refusals: `BadRequest` and those of plans. */
  assertPossible(request: Omit<CreateDocuments, 'files'>, at: Millis): SharedFacts {
    const { plans } = this.#parts;
    if ((request.description?.length ?? 0) > LONGEST_DESCRIPTION) throw tooLong('Description');
    if ((request.tags?.length ?? 0) > MOST_TAGS)
      throw new PortalRefusal('LimitExceeded', `A document has at most ${MOST_TAGS} tags.`);
    const xmlNamespaces = planNamespaces(request.xmlNamespaces);
    // Checked once for all documents of the call; each gets ids of its own.
    planActions(request.flowActions, [], plans, xmlNamespaces);
    planObservers(request.observers ?? [], plans);
    return {
      expirationDate: expiryOf(request.expirationDate ?? null, at),
      notifiedEmails: notifiedEmails(request.notifiedEmails ?? []),
      ...(xmlNamespaces.length > 0 && { xmlNamespaces }),
    };
  }

  async #attachments(
    tenant: Tenant,
    { attachments }: CreateDocuments,
    at: Millis,
  ): Promise<readonly Omit<Attachment, 'id'>[]> {
    if ((attachments?.length ?? 0) > MOST_ATTACHMENTS)
      throw new PortalRefusal('LimitExceeded', `A document has at most ${MOST_ATTACHMENTS} attachments.`);
    return Promise.all(
      (attachments ?? []).map(async (input) => ({
        file: await this.#parts.files.entry(tenant.organization.id, input),
        isPrivate: input.isPrivate === true,
        creationDate: at,
      })),
    );
  }

  #input(
    { organization, application }: Tenant,
    request: CreateDocuments,
    { marked, ...prepared }: PreparedFile,
    given: {
      readonly at: Millis;
      readonly shared: SharedFacts;
      readonly attachments: readonly Omit<Attachment, 'id'>[];
    },
  ): DocumentInput {
    const { ids, order, plans } = this.#parts;
    const { at, shared, attachments } = given;
    return {
      id: ids.uuid() as DocumentId,
      ...prepared,
      ...shared,
      organization: { id: organization.id, name: organization.name },
      createdBy: { id: application.id, type: 'Application', name: application.name },
      order: order.next(),
      key: makeKey(ids),
      name: prepared.file.displayName,
      isEnvelope: request.isEnvelope === true,
      description: plainText(request.description ?? '') || null,
      folderId: null,
      actions: planActions(request.flowActions, marked, plans, shared.xmlNamespaces),
      observers: planObservers(request.observers ?? [], plans),
      attachments: attachments.map((attachment) => ({ ...attachment, id: ids.uuid() })),
      tags: (request.tags ?? []).map(
        ({ label, value }): Tag => ({
          id: ids.uuid(),
          label: typeof label === 'string' ? plainLine(label) : null,
          value: plainLine(value),
        }),
      ),
      type: request.type ?? null,
      signatureType: request.signatureType ?? null,
      additionalInfo: request.additionalInfo ?? null,
      forceCadesSignature: request.forceCadesSignature === true,
      timestampEnabled: request.timestampEnabled === true,
      disableNotifications: request.disableNotifications === true,
      quietStart: request.disablePendingActionNotifications === true,
      siblings: null,
      at,
    };
  }

  /** The one that announces all of them comes last: what it speaks of is there. */
  async #make(inputs: readonly DocumentInput[]): Promise<readonly DocumentContext[]> {
    const { faults } = this.#parts;
    const [first, ...others] = inputs;
    if (first === undefined) return [];
    const made = await Promise.all(others.map((input) => this.#makeOne(input)));
    await faults.at('portal.create.some');
    const announcing = await this.#makeOne({ ...first, siblings: made.map(summaryOf) });
    await faults.at('portal.create.all');
    return [announcing, ...made];
  }

  /** A document that an earlier try of the same request has made. */
  async #madeBefore(inputs: readonly DocumentInput[]): Promise<DocumentContext | undefined> {
    for (const { id } of inputs) {
      const there = await this.#parts.system.read(documentAddress(id));
      if (there !== undefined) return there.context as DocumentContext;
    }
    return undefined;
  }

  /** The document, or the one an earlier try of the same request has made. */
  async #makeOne(input: DocumentInput): Promise<DocumentContext> {
    const { system, clock } = this.#parts;
    const address = documentAddress(input.id);
    // Deadlines are counted from the moment it is made.
    const made: DocumentInput = { ...input, at: clock.now() };
    const outcome = await system.create(address, made as unknown as Json);
    if (outcome.accepted) {
      await outcome.durable;
      return outcome.actor.context as DocumentContext;
    }
    const there = outcome.because === 'exists' ? await system.read(address) : undefined;
    if (there === undefined) throw new PortalRefusal('ServiceBusy');
    return there.context as DocumentContext;
  }
}

/** The end of the day, UTC. Source: portal-gaps §5, `expirationDate`. */
function expiryOf(date: Millis | null, at: Millis): Millis | null {
  if (date === null) return null;
  const end = Math.floor(date / DAY) * DAY + DAY - 1;
  if (end > at) return end;
  const message = 'The ExpirationDate is over.';
  throw new PortalRefusal('BadRequest', message, { errors: { ExpirationDate: [message] } });
}

function required(name: string): PortalRefusal {
  const message = `The ${name} field is required.`;
  return new PortalRefusal('BadRequest', message, { errors: { [name]: [message] } });
}

function tooLong(name: string): PortalRefusal {
  const message = `The ${name} field is too long.`;
  return new PortalRefusal('BadRequest', message, { errors: { [name]: [message] } });
}
