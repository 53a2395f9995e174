/** Makes documents of uploads: one call, one flow, any number of files. Source: docs/portal-values.md §§5, 21. */
import { accepted, type Ids } from '@sealwright/runtime';
import { plainLine, plainText } from '../../../contracts/plain-text.ts';
import { storedProperties } from '../../../contracts/portal/document-properties.ts';
import { MAX_DOCUMENTS } from '../../../contracts/portal/new-documents.ts';
import type { DocumentId, Millis, UserId } from '../../../machines/ids.ts';
import type { DocumentContext, DocumentInput } from '../../../machines/portal/documents/document-context.ts';
import type { GenerationInput } from '../../../machines/portal/generation.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type {
  ActionPlan,
  Attachment,
  DocumentSource,
  FileEntry,
  Tag,
} from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { GrowingIds } from '../../shared/ids/growing-ids.ts';
import type { OrderNumbers } from '../../shared/ids/order-numbers.ts';
import type { remindersOf } from '../accounts/organization-settings.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import type { CreateDocuments, DocumentOfRequest } from '../api/documents.ts';
import { DOCUMENT, seededId } from '../document-records/document-index.ts';
import { originOf } from '../document-records/document-messages.ts';
import type { Folders } from '../folders/folders.ts';
import { busyUnlessMade } from '../shared/records.ts';
import type { DocumentFiles, PreparedFile } from './document-files.ts';
import {
  assertSignatureType,
  notifiedEmails,
  type PlanDependencies,
  placedActions,
  planFlow,
  planObservers,
} from './document-plans.ts';
import { assertConditions, assertFieldFiles, assertFieldsExist } from './field-plans.ts';
import { highestMarkedPage } from './mark-plans.ts';
import { taggedFields, withoutTaggedFields, withTextTags } from './text-tags.ts';
import { planNamespaces } from './xades-plans.ts';

const DAY_MS = 86_400_000;

const KEY_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const KEY_LENGTH = 20;
/** Bytes from here on would make some letters likelier than others. */
const KEY_BYTES = 256 - (256 % KEY_LETTERS.length);

/** Ends documents of a call that made only some. */
const UNDONE = { reason: 'The call failed before all of its documents were made.', isQuiet: true } as const;

/** Validated options shared by all documents of one call; each has ids of its own for people. */
interface SharedProperties
  extends Pick<DocumentInput, 'expirationDate' | 'notifiedEmails' | 'xmlNamespaces' | 'observers'> {
  readonly flow: readonly ActionPlan[];
}

/** Bytes that are drawn at once: a call of the generator costs more than all else of a key. */
const DRAWN_BYTES = 1024;

/** Makes validation keys: 20 letters and digits, each as likely as any other. */
class KeyMaker {
  #drawn: Buffer = Buffer.alloc(0);
  #used = 0;

  constructor(private readonly ids: Pick<Ids, 'bytes'>) {}

  next(): string {
    let key = '';
    while (key.length < KEY_LENGTH) {
      if (this.#used === this.#drawn.length) {
        this.#drawn = this.ids.bytes(DRAWN_BYTES);
        this.#used = 0;
      }
      const byte = this.#drawn.readUInt8(this.#used);
      this.#used += 1;
      if (byte < KEY_BYTES) key += KEY_LETTERS[byte % KEY_LETTERS.length];
    }
    return key;
  }
}

export class DocumentCreation {
  readonly #ids: GrowingIds;
  readonly #keys: KeyMaker;

  readonly folders: Folders;

  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      readonly order: OrderNumbers;
      readonly files: DocumentFiles;
      readonly folders: Folders;
      readonly plans: PlanDependencies;
      readonly defaultReminders: ReturnType<typeof remindersOf>;
      /** True: the profile that signs for the service has a time-stamp authority. */
      readonly canTimestamp: boolean;
    },
  ) {
    this.folders = needs.folders;
    this.#ids = new GrowingIds(needs.runtime.ids);
    this.#keys = new KeyMaker(needs.runtime.ids);
  }

  /** Resolves once all of them are durable. @param seed see `DocumentService.create` */
  async create(
    tenant: Tenant,
    request: CreateDocuments,
    seed?: string,
    source: DocumentSource & Pick<DocumentInput, 'draft'> = {},
  ): Promise<readonly DocumentOfRequest[]> {
    const inputs = (await this.#plan(tenant, request, source)).map((input, index) => ({
      ...input,
      ...source,
      ...(seed !== undefined && { id: seededId(seed, index) }),
    }));
    const before = seed === undefined ? undefined : await this.#existingDocuments(inputs);
    // A call that is refused for its folder creates nothing; a repeated call creates no second folder.
    const folderId = before === undefined ? await this.folders.ofDocument(tenant, request) : before.folderId;
    const [made] = await Promise.all([
      this.#createAll(
        inputs.map((input) => ({ ...input, folderId })),
        seed !== undefined,
      ),
      this.needs.files.use(uploadedFiles(inputs)),
    ]);
    return made.map((document, index) => ({
      uploadId: request.files[index]?.id ?? '',
      documentId: document.id,
      attachments: document.attachments.flatMap(({ id, file, signatures }) =>
        signatures === undefined ? [{ uploadId: file.uploadId ?? '', attachmentId: id }] : [],
      ),
    }));
  }

  /** Checks a request and its files without creating anything. Refusals: those of `create`, but for the folder. */
  async check(tenant: Tenant, request: CreateDocuments, source: DocumentSource = {}): Promise<void> {
    await this.#plan(tenant, request, source);
  }

  /** The documents of a request, checked. */
  async #plan(
    tenant: Tenant,
    request: CreateDocuments,
    source: DocumentSource,
  ): Promise<readonly DocumentInput[]> {
    const at = this.needs.runtime.clock.now();
    const shared = this.#shared(request, at, source);
    assertFieldFiles(request.flowActions, request.files);
    const reminders = request.reminders ?? (await this.needs.defaultReminders(tenant.organization.id));
    const attachments = await this.#attachments(tenant, request, at);
    const files = await this.#files(tenant, request);
    const inputs: DocumentInput[] = [];
    for (const prepared of files)
      inputs.push({
        ...(await this.#tagged(
          tenant,
          request,
          prepared,
          this.#input(tenant, request, prepared, { at, shared, attachments }),
        )),
        ...(reminders !== undefined && { reminders }),
      });
    for (const { actions } of inputs) assertConditions(actions);
    const fields = inputs.flatMap(({ actions }) => actions.flatMap((action) => action.fields ?? []));
    if (request.tagValues !== undefined) assertFieldsExist(request.tagValues, fields);
    for (const input of inputs)
      await this.needs.files.assertSignable(tenant.organization.id, input, input.actions);
    return inputs;
  }

  /** The document with what tags in the text of its file place. Refusals: `InvalidTextTag`, `LimitExceeded`. */
  async #tagged(
    { organization }: Tenant,
    { textTags, flowActions, tagValues = {} }: CreateDocuments,
    { file }: PreparedFile,
    input: DocumentInput,
  ): Promise<DocumentInput> {
    if (textTags !== true) return input;
    const tags = input.format === 'Pades' ? await this.needs.files.textTags(organization.id, file) : [];
    const { actions, covers } = withTextTags(input.actions, flowActions, tags, {
      ids: this.needs.runtime.ids,
      uploadId: file.uploadId ?? undefined,
      tagValues,
    });
    return { ...input, actions, ...(covers.length > 0 && { covers }) };
  }

  /**
   * Returns the fields that tags in the texts of the files name and the request does not list. Refusals: those of the
   * files, `LimitExceeded`.
   */
  async taggedFields(
    tenant: Tenant,
    request: CreateDocuments,
  ): Promise<NonNullable<GenerationInput['taggedFields']>> {
    if (request.textTags !== true) return [];
    const { files } = this.needs;
    const prepared = (await this.#files(tenant, request)).filter(({ format }) => format === 'Pades');
    const tags = await Promise.all(prepared.map(({ file }) => files.textTags(tenant.organization.id, file)));
    const listed = request.flowActions.flatMap(({ fields }) => (fields ?? []).map(({ name }) => name.trim()));
    return [...taggedFields(tags.flat())].flatMap(([name, type]) =>
      listed.includes(name) ? [] : [{ name, type }],
    );
  }

  /** True if a call under this seed has made its first document. */
  async isMade(seed: string): Promise<boolean> {
    return (await this.needs.runtime.actors.read(DOCUMENT, seededId(seed, 0))) !== undefined;
  }

  /** The ids that documents of a call under this seed may have. */
  idsOf(seed: string): readonly DocumentId[] {
    return Array.from({ length: MAX_DOCUMENTS }, (_, index) => seededId(seed, index));
  }

  async #files(tenant: Tenant, request: CreateDocuments): Promise<readonly PreparedFile[]> {
    const { files } = this.needs;
    const organization = tenant.organization.id;
    const forceCades = request.forceCadesSignature === true;
    const highestPage = highestMarkedPage(request.flowActions);
    if (request.isEnvelope === true)
      return [await files.envelope(organization, request.files, request.envelopeName ?? '', forceCades)];
    // All are checked before the first is created.
    return Promise.all(
      request.files.map((file) => files.single(organization, file, forceCades, highestPage)),
    );
  }

  /** Checks that need no file. Refusals: `BadRequest` and those of plans. */
  assertPossible(request: Omit<CreateDocuments, 'files'>, at: Millis, source: DocumentSource = {}): void {
    const { flow } = this.#shared(request, at, source);
    const actions = placedActions(flow, withoutTaggedFields(request), [], this.needs.plans);
    // Tags place the others.
    if (request.textTags !== true) assertConditions(actions);
  }

  /** The parts of a document that no file decides; the same for all of one call. */
  #shared(
    request: Omit<CreateDocuments, 'files'>,
    at: Millis,
    { publicLink }: DocumentSource,
  ): SharedProperties {
    const { plans } = this.needs;
    if (request.timestampEnabled === true && !this.needs.canTimestamp)
      throw new PortalRefusal('TimestampNotAvailable');
    assertSignatureType(request.signatureType, request.flowActions);
    const xmlNamespaces = planNamespaces(request.xmlNamespaces);
    return {
      flow: planFlow(
        withoutTaggedFields(request),
        { ...plans, takesPhones: publicLink !== undefined },
        xmlNamespaces,
      ),
      observers: planObservers(request.observers ?? [], plans),
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
    return Promise.all(
      (attachments ?? []).map(async (input) => ({
        file: await this.needs.files.entry(tenant.organization.id, input),
        isPrivate: input.isPrivate === true,
        creationDate: at,
      })),
    );
  }

  #input(
    tenant: Tenant,
    request: CreateDocuments,
    { file, format, parts, marked, signedOriginals }: PreparedFile,
    given: {
      readonly at: Millis;
      readonly shared: SharedProperties;
      readonly attachments: readonly Omit<Attachment, 'id'>[];
    },
  ): DocumentInput {
    const { ids } = this.needs.runtime;
    const { order, plans } = this.needs;
    const { organization, origin } = tenant;
    const { at, attachments } = given;
    const { flow, observers, ...shared } = given.shared;
    return {
      ...storedProperties(request),
      ...shared,
      id: this.#ids.next(at) as DocumentId,
      file,
      format,
      parts,
      organization: { id: organization.id, name: organization.name },
      createdBy: principalOf(tenant),
      order: order.next().order,
      key: this.#keys.next(),
      name: file.displayName,
      description: plainText(request.description ?? '') || null,
      folderId: null,
      actions: placedActions(flow, withoutTaggedFields(request), marked, plans),
      observers: observers.map(({ user }) => ({
        id: ids.uuid(),
        user: { ...user, id: ids.uuid() as UserId },
      })),
      attachments: [...attachments, ...signedOriginals].map((attachment) => ({
        ...attachment,
        id: ids.uuid(),
      })),
      tags: (request.tags ?? []).map(
        ({ label, value }): Tag => ({
          id: ids.uuid(),
          label: typeof label === 'string' ? plainLine(label) : null,
          value: plainLine(value),
        }),
      ),
      quietStart: request.disablePendingActionNotifications === true,
      siblings: null,
      requestOrigin: originOf(origin),
      at,
    };
  }

  /**
   * The announcing document is created last, when all documents exist that it and its mails name.
   * @param goesOn true: a repetition makes what this call does not; false: documents of which nobody is told are canceled
   */
  async #createAll(
    [first, ...others]: readonly DocumentInput[],
    goesOn: boolean,
  ): Promise<readonly DocumentContext[]> {
    const { faults, actors } = this.needs.runtime;
    if (first === undefined) return [];
    const begun = await Promise.allSettled(
      others.map((input) => this.#createOne({ ...input, announcedBy: first.id })),
    );
    try {
      const made = begun.map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
      await faults.at('portal.create.some');
      const announcing = await this.#createOne({
        ...first,
        // Of one that has ended since an earlier try nobody is told.
        siblings: made.map(({ state, context }) =>
          state === 'Pending' ? context : { ...context, actions: [], observers: [] },
        ),
        ...(made.length > 0 && { announces: made.map(({ id }) => id as DocumentId) }),
      });
      await faults.at('portal.create.all');
      return [announcing, ...made].map(({ context }) => context);
    } catch (error) {
      if (!goesOn && (await actors.read(DOCUMENT, first.id)) === undefined)
        await Promise.allSettled(
          others.map(({ id }) =>
            actors.send(DOCUMENT, id, { type: 'CANCEL', by: first.createdBy, ...UNDONE }),
          ),
        );
      throw error;
    }
  }

  /** A document that an earlier try of the same request has made. */
  async #existingDocuments(inputs: readonly DocumentInput[]): Promise<DocumentContext | undefined> {
    for (const { id } of inputs) {
      const existing = await this.needs.runtime.actors.read(DOCUMENT, id);
      if (existing !== undefined) return existing.context;
    }
    return undefined;
  }

  /** The document, or the one an earlier try of the same request has made. */
  async #createOne(input: DocumentInput) {
    const { actors, clock } = this.needs.runtime;
    // Deadlines are counted from the moment it is made.
    const made: DocumentInput = { ...input, at: clock.now() };
    const created =
      (await accepted(actors.create(DOCUMENT, input.id, made), busyUnlessMade)) ??
      (await actors.read(DOCUMENT, input.id));
    if (created === undefined) throw new PortalRefusal('ServiceBusy');
    return created;
  }
}

/** Each as often as the call names it. */
function uploadedFiles(inputs: readonly DocumentInput[]): readonly FileEntry[] {
  // The attachments of a call are those of each of its documents; signed originals are parts already.
  const attachments = inputs[0]?.attachments.filter(({ signatures }) => signatures === undefined) ?? [];
  return [...inputs.flatMap(({ file, parts }) => [file, ...parts]), ...attachments.map(({ file }) => file)];
}

/**
 * The end of the last day. Requests that earlier versions stored have its beginning, UTC.
 * Source: docs/portal-values.md §5, `expirationDate`.
 */
function expiryOf(date: Millis | null, at: Millis): Millis | null {
  if (date === null) return null;
  const end = date % DAY_MS === 0 ? date + DAY_MS - 1 : date;
  if (end > at) return end;
  throw badMember('ExpirationDate', 'The ExpirationDate is over.');
}
