/** The public history of a document: the journal of its actor, with the proof that it was not changed. Source: docs/decisions/0053-tamper-evident-history.md. */

import type { ActorStore, JournalLine } from '@sealwright/runtime';
import { type HistoryProof, HistoryProofs } from '@sealwright/runtime/history';
import type { DocumentHistoryEntry } from '../../../contracts/portal/document-history.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type { TrailAction } from '../../../machines/portal/documents/document-context.ts';
import { documentAddress } from './document-index.ts';

/** Types of entries by the message that caused the journal line. */
const TYPES: Readonly<Record<string, DocumentHistoryEntry['type']>> = {
  CREATE: 'Created',
  SIGN: 'Signed',
  COMPLETE: 'Signed',
  APPROVE: 'Approved',
  REFUSE_TURN: 'Refused',
  REFUSE: 'Refused',
  CANCEL: 'Canceled',
  EXPIRE: 'Expired',
  NEW_VERSION: 'Edited',
  EDIT_FLOW: 'Edited',
  PASS_ON: 'Edited',
  REMIND: 'Reminded',
  REMINDERS_DUE: 'Reminded',
  SET_REMINDERS: 'Edited',
  CONCLUDED: 'Concluded',
  DELETE: 'Deleted',
  SIGNATURE_FAILED: 'ProcessingFailed',
  CONCLUSION_FAILED: 'ProcessingFailed',
};

/** Types of recorded entries, by `data.action`. */
const RECORDED: Readonly<
  Record<TrailAction | 'mailed' | 'expiring' | 'skipped', DocumentHistoryEntry['type']>
> = {
  mailed: 'Mailed',
  expiring: 'ExpiryWarned',
  'mail-delivered': 'MailDelivered',
  'mail-refused': 'MailRefused',
  'message-refused': 'MailRefused',
  opened: 'Opened',
  viewed: 'Viewed',
  'code-sent': 'CodeSent',
  'code-wrong': 'WrongCode',
  downloaded: 'Downloaded',
  'authenticator-reset': 'Other',
  skipped: 'Other',
};

/** Shown for a text that was erased. */
const ERASED = 'Erased.';

export class DocumentHistory {
  readonly #store: Pick<ActorStore, 'load' | 'journal' | 'rows'>;
  readonly #proofs: HistoryProofs;

  constructor(store: Pick<ActorStore, 'load' | 'journal' | 'rows'>) {
    this.#store = store;
    this.#proofs = new HistoryProofs(store);
  }

  /** Oldest entry first. @param page.offset number of the page, from 0 */
  async page(
    id: DocumentId,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{
    readonly items: readonly DocumentHistoryEntry[];
    readonly totalCount: number;
    /** Of the newest sealed entry; null while no checkpoint covers the document. */
    readonly proof: HistoryProof | null;
  }> {
    const address = documentAddress(id);
    const totalCount = (await this.#store.load(address))?.journalLength ?? 0;
    const lines = await this.#store.journal(address, { after: page.offset * page.limit, limit: page.limit });
    return { items: lines.map(entryOf), totalCount, proof: (await this.#proofs.of(address)) ?? null };
  }
}

function entryOf(line: JournalLine): DocumentHistoryEntry {
  const { by = null, userId = null, ipAddress = null, userAgent = null } = line.data ?? {};
  return {
    id: line.id,
    type: typeOf(line),
    date: line.at,
    message: line.erased === undefined ? line.message : ERASED,
    by: textOf(by),
    userId: textOf(userId),
    ipAddress: textOf(ipAddress),
    userAgent: textOf(userAgent),
    state: line.state,
    cause: line.cause,
    data: line.data ?? null,
    salt: line.salt ?? null,
    erased: line.erased ?? null,
    hash: line.hash ?? null,
  };
}

function typeOf({ cause, state, data }: JournalLine): DocumentHistoryEntry['type'] {
  const recorded = RECORDED[String(data?.['action']) as TrailAction];
  // The step of the last signature may also conclude the document.
  const isConclusion = (cause === 'SIGNATURE_ADDED' || cause === 'SIGN') && state === 'Concluded';
  return recorded ?? (isConclusion ? 'Concluded' : TYPES[cause]) ?? 'Other';
}

function textOf(value: string | number | boolean | null): string | null {
  return typeof value === 'string' ? value : null;
}
