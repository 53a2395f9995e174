/** Changes of the file and the flow of a document by applications. Source: docs/portal-values.md §§14, 15. */
import type { FlowEdit, NewEnvelopeVersion, NewVersion } from '../../../contracts/portal/document-changes.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type { FlowChange } from '../../../machines/portal/documents/document-context.ts';
import {
  actionsBeingSigned,
  bringsFields,
  takesFields,
  withObserverEdits,
} from '../../../machines/portal/documents/document-edits.ts';
import { withFlowEdits } from '../../../machines/portal/documents/document-flow.ts';
import { withTaggedContent } from '../../../machines/portal/documents/tagged-content.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentActor } from '../document-records/document-index.ts';
import {
  changeDocument,
  type DocumentRequest,
  type sendToDocument,
  wrongStatus,
} from '../document-records/document-messages.ts';
import { type DocumentDirectory, documentToChange } from '../document-records/document-reader.ts';
import { assertNoHold } from '../folders/folders.ts';
import { refusalOfHeld } from '../retention/legal-holds.ts';
import type { DocumentFiles, PreparedFile } from './document-files.ts';
import { assertSignatureType, type PlanDependencies } from './document-plans.ts';
import { actionsAfter, planFlowEdit } from './flow-edits.ts';
import {
  assertInitialsFit,
  assertRemainingPages,
  highestMarkedPage,
  highestRemainingPage,
  planMarks,
} from './mark-plans.ts';
import { newTaggedContent } from './text-tags.ts';

export class DocumentEdits {
  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      readonly directory: DocumentDirectory;
      readonly files: DocumentFiles;
      readonly plans: PlanDependencies;
      /** `Portal:NotifyParticipants:NewVersion`. */
      readonly notifyNewVersion: boolean;
    },
  ) {}

  async newVersion(tenant: Tenant, id: DocumentId, version: NewVersion): Promise<void> {
    const document = await this.#present(tenant, id);
    const { context } = document;
    if (context.isEnvelope)
      throw new PortalRefusal('InvalidDocumentStatus', 'An envelope gets new versions of its own kind.');
    this.#assertVersionable(document);
    const prepared = await this.needs.files.single(
      tenant.organization.id,
      version.file,
      context.forceCadesSignature,
      Math.max(
        highestRemainingPage(context.actions),
        highestMarkedPage([
          ...(version.prePositionedMarks ?? []).map(({ prePositionedDocumentMarks: marks }) => ({
            prePositionedMarks: marks,
          })),
          ...context.actions.map(({ initialsMode }) => ({ signatureInitialsMode: initialsMode })),
        ]),
      ),
    );
    await this.#replaceFile(tenant, id, { version, name: prepared.file.displayName, preparedFile: prepared });
  }

  async newEnvelopeVersion(tenant: Tenant, id: DocumentId, version: NewEnvelopeVersion): Promise<void> {
    const document = await this.#present(tenant, id);
    const { context } = document;
    if (!context.isEnvelope) throw new PortalRefusal('InvalidDocumentStatus', 'The document is no envelope.');
    this.#assertVersionable(document);
    const name = version.envelopeName?.trim() ? version.envelopeName : context.name;
    const { files } = this.needs;
    const prepared = await files.envelope(
      tenant.organization.id,
      version.files,
      name,
      context.forceCadesSignature,
    );
    await this.#replaceFile(tenant, id, { version, name: prepared.file.displayName, preparedFile: prepared });
  }

  async #replaceFile(
    tenant: Tenant,
    id: DocumentId,
    {
      version,
      name,
      preparedFile: { file, format, parts, marked, signedOriginals },
    }: {
      readonly version: Omit<NewVersion, 'file'>;
      readonly name: string;
      readonly preparedFile: PreparedFile;
    },
  ): Promise<void> {
    const { context } = await this.#present(tenant, id);
    const { ids } = this.needs.runtime;
    const { files } = this.needs;
    const organization = tenant.organization.id;
    const tags =
      version.textTags === true && format === 'Pades' ? await files.textTags(organization, file) : [];
    const tagged =
      version.textTags === true
        ? newTaggedContent(context.actions, tags, { ids, uploadId: file.uploadId ?? undefined })
        : undefined;
    const actions = tagged === undefined ? context.actions : withTaggedContent(context.actions, tagged);
    await files.assertSignable(organization, { file, format }, actions);
    const marks = (version.prePositionedMarks ?? []).map(({ flowActionId, prePositionedDocumentMarks }) => {
      const action = context.actions.find((one) => one.id === flowActionId.toLowerCase());
      if (action === undefined) throw new PortalRefusal('FlowActionNotFound');
      return { flowActionId: action.id, marks: planMarks(prePositionedDocumentMarks, marked) };
    });
    const replaced = new Map(marks.map((one) => [one.flowActionId, one.marks]));
    assertRemainingPages(
      actions.map(({ id, marks: own, fields }) => ({ marks: replaced.get(id) ?? own, fields })),
      marked,
    );
    for (const { id, initialsMode, marks: own } of actions)
      assertInitialsFit(initialsMode, replaced.get(id) ?? own, marked);
    const message: DocumentRequest = {
      type: 'NEW_VERSION',
      name,
      file,
      format,
      parts,
      marks,
      signedOriginals: signedOriginals.map((original) => ({ ...original, id: ids.uuid() })),
      ...(version.additionalInfo && { additionalInfo: version.additionalInfo }),
      ...(tagged !== undefined && { tagged }),
      quietStart: version.disablePendingActionNotifications === true,
      tellParticipants: this.needs.notifyNewVersion,
    };
    // The flow may have been edited since its actions were read.
    await assertNoHold(this.needs.runtime.actors, context.folderId);
    const held = refusalOfHeld('NEW_VERSION');
    await this.#send(tenant, id, message, (now) =>
      now.context.hold == null && (now.state === 'Pending' || now.state === 'Refused')
        ? 'InvalidFlowAction'
        : held(now),
    );
    await files.use([file, ...parts]);
  }

  #assertVersionable({ state }: Pick<DocumentActor, 'state'>): void {
    if (state !== 'Pending' && state !== 'Refused') throw wrongStatus({ state });
  }

  async editFlow(tenant: Tenant, id: DocumentId, edit: FlowEdit): Promise<void> {
    const { context } = await this.#present(tenant, id);
    const marked = [...(edit.addedFlowActions ?? []), ...(edit.editedFlowActions ?? [])];
    const lastPage = await this.needs.files.lastPage(
      tenant.organization.id,
      context,
      highestMarkedPage(marked),
    );
    assertSignatureType(context.signatureType, edit.addedFlowActions ?? []);
    const planned = planFlowEdit(context, edit, this.needs.plans, lastPage);
    const { now, added } = actionsAfter(context.actions, planned);
    await this.needs.files.assertSignable(tenant.organization.id, context, now, added);
    await this.#send(tenant, id, { type: 'EDIT_FLOW', change: planned }, (now) => {
      if (now.state !== 'Pending') return wrongStatus(now);
      return editFault(now, planned, this.needs.runtime.clock.now()) ?? 'InvalidFlowAction';
    });
  }

  #present(tenant: Tenant, id: DocumentId): Promise<DocumentActor> {
    return documentToChange(this.needs.directory, tenant, id) as Promise<DocumentActor>;
  }

  #send(
    tenant: Tenant,
    id: DocumentId,
    message: DocumentRequest,
    refusal: Parameters<typeof sendToDocument>[3],
  ): Promise<void> {
    return changeDocument(this.needs.runtime.actors, this.needs.directory, { tenant, id, message, refusal });
  }
}

function editFault(
  { context }: DocumentActor,
  planned: FlowChange,
  at: number,
): 'FieldsNotEditable' | 'FlowActionNotFound' | 'InvalidFlowAction' | 'LimitExceeded' | undefined {
  if (bringsFields(planned) && !takesFields(context, at)) return 'FieldsNotEditable';
  const outcome = withFlowEdits(context.actions, planned, actionsBeingSigned(context, at), at);
  const observers = withObserverEdits(context.observers, planned);
  if (outcome === 'unknown') return 'FlowActionNotFound';
  if (outcome === 'invalid' || observers === 'invalid') return 'InvalidFlowAction';
  return outcome === 'excess' || observers === 'excess' ? 'LimitExceeded' : undefined;
}
