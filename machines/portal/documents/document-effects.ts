/** Effects of a document. Each carries the input of its handler. */
import { declareEffect, type Erasure, type RequestOf, type WithoutTime } from '@sealwright/runtime/actions';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { Millis, OrganizationId } from '../../ids.ts';
import { notify } from '../mail.ts';
import type { BlobRef, DocumentEvent, DocumentFormat, Participant, XadesOptions } from '../portal-types.ts';
import type { DraftAttempt } from '../saved-request.ts';
import type { AcceptedSignature, DocumentMessage, RequiredSignature } from './document-context.ts';

/** Input of `applySignature`. */
export interface SignatureToApply {
  readonly signature: AcceptedSignature;
  readonly signer: Participant;
  readonly title: string | null;
  readonly xades: XadesOptions | null;
  readonly document: {
    /** Absent in effects stored by an earlier version. */
    readonly organizationId?: OrganizationId;
    readonly key: string;
    readonly format: DocumentFormat;
    readonly current: BlobRef;
    readonly signatures: BlobRef | null;
  };
  /**
   * Signatures that the final verification requires besides this one; present when this one completes the flow and
   * no time-stamp follows.
   */
  readonly conclude?: Pick<Conclusion, 'expected' | 'original'>;
}

/** Puts an accepted signature into the document. */
export const applySignature = declareEffect('applySignature', {
  types: {} as { input: SignatureToApply; outcome: WithoutTime<DocumentMessage> },
});

/** Input of `conclude`. */
export interface Conclusion {
  readonly format: DocumentFormat;
  readonly current: BlobRef;
  readonly signatures: BlobRef | null;
  readonly expected: readonly RequiredSignature[];
  /** The uploaded file; absent in effects stored by an earlier version. */
  readonly original?: BlobRef;
  readonly timestamp: boolean;
}

/** Verifies a document whose flow is complete, and adds its time-stamp where one is wanted. */
export const conclude = declareEffect('conclude', {
  types: {} as { input: Conclusion; outcome: WithoutTime<DocumentMessage> },
});

/** Gives events to the webhooks of the organization. */
export const announce = declareEffect('announce', {
  types: {} as { input: { readonly events: readonly DocumentEvent[] } },
});

/** Asked for by a new document: cancels it if the attempt to send a draft that made it has ended. */
export const confirmDraft = declareEffect('confirmDraft', {
  types: {} as {
    input: { readonly draft: DraftAttempt; readonly createdAt: Millis; readonly by: Principal };
    outcome: WithoutTime<DocumentMessage> | null;
  },
});

/** Removes the files of a deleted document. Names of files stay known after their deletion. */
export const forgetFiles = declareEffect('forgetFiles');

/** Ends the uploads of the participants of a document that has ended. */
export const forgetParticipantUploads = declareEffect('forgetParticipantUploads');

export const DOCUMENT_EFFECTS = [
  applySignature,
  conclude,
  notify,
  announce,
  confirmDraft,
  forgetFiles,
  forgetParticipantUploads,
] as const;

/** `erase`: texts of the history go with the step. */
export type DocumentEffect =
  | RequestOf<(typeof DOCUMENT_EFFECTS)[number]>
  | { readonly type: 'erase'; readonly params: Erasure };
