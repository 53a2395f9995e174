/**
 * Port of a store that is copied or written by a copy. Both engines give and take the same records, so that counts and
 * hashes of a source and its copy are comparable. Leases, nodes and changes are no records: they belong to processes.
 */

/** Tables in the order in which they are copied. */
export const COPIED_TABLES = ['actors', 'journal', 'rows', 'names', 'counters', 'effects', 'timers'] as const;
export type CopiedTable = (typeof COPIED_TABLES)[number];

export type RecordKey = readonly (string | number)[];

/**
 * One record, the same from every engine.
 *
 * | table    | key                       | value (JSON text)                           |
 * |----------|---------------------------|---------------------------------------------|
 * | actors   | kind, id                  | the actor                                   |
 * | journal  | kind, id, line            | the line                                    |
 * | rows     | view, …key                | the row's value                             |
 * | names    | name                      | kind and id of the holder                   |
 * | counters | name                      | the count                                   |
 * | effects  | kind, id, revision, index | due time, partition, failures, last error, effect |
 * | timers   | due, kind, id, name       | the event                                   |
 */
export interface StoreRecord {
  readonly key: RecordKey;
  readonly value: string;
}

/** The value of a record of `effects`. */
export interface CopiedEffect {
  readonly dueAt: number;
  /** Partition; the name is that of the records of all versions. */
  readonly lane?: string | undefined;
  readonly failures: number;
  readonly lastError: string | null;
  readonly effect: unknown;
}

/** Builds the value of a record of `effects`: the same text from every engine. */
export function effectText({ dueAt, lane, failures, lastError, effect }: CopiedEffect): string {
  return JSON.stringify({ dueAt, lane, failures, lastError, effect });
}

/** Maximum records of one batch. */
export const BATCH_SIZE = 1000;

/** Size of the values of one batch after which it ends, characters. */
export const BATCH_LENGTH = 4 * 1024 * 1024;

/** Note in the target of an unfinished copy. */
export interface CopyMarker {
  /** Location of the source, for people. */
  readonly source: string;
  /** Hash over counts and hashes of all tables of the source. */
  readonly digest: string;
}

/** A store that no service uses and none can open until it is closed. */
export interface CopySide {
  /** Engine and place, for people, without a password. */
  readonly location: string;
  /** The command that empties it, for people. */
  readonly howToEmpty: string;
  /** Number of records. */
  count(table: CopiedTable): Promise<number>;
  /** Next records after `after` in key order; none at the end. */
  read(table: CopiedTable, after: RecordKey | undefined): Promise<readonly StoreRecord[]>;
  lastKey(table: CopiedTable): Promise<RecordKey | undefined>;
  /** Marker of a copy that was begun and not finished. A service refuses such a store. */
  marker(): Promise<CopyMarker | undefined>;
  begin(marker: CopyMarker): Promise<void>;
  /** Adds records in one transaction. */
  write(table: CopiedTable, records: readonly StoreRecord[]): Promise<void>;
  /** Makes everything durable and removes the marker. */
  finish(): Promise<void>;
  close(): Promise<void>;
}
