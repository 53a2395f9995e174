/**
 * Copies an installation from one store to another while no service runs on either. Records are read and written in
 * key order in batches, so that memory is bounded, and a copy that was killed goes on after the last record it has
 * written. At the end counts and SHA-256 of each table are compared.
 */
import { createHash } from 'node:crypto';
import { Fatal } from '../../model/failures.ts';
import { COPIED_TABLES, type CopiedTable, type CopySide, type StoreRecord } from './copy-side.ts';

/** Number of records of a table, and SHA-256 over them in key order. */
export interface TableDigest {
  readonly table: CopiedTable;
  readonly records: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface CopyReport {
  /** `copied`: written now; `resumed`: the rest was written now; `unchanged`: the target held everything already. */
  readonly result: 'copied' | 'resumed' | 'unchanged';
  readonly tables: readonly TableDigest[];
  /** Records that this run has written. */
  readonly written: number;
}

export type CopyPhase = 'read source' | 'copy' | 'compare';

/** Receives the records handled so far in a phase, and how many there are. */
export type CopyProgress = (phase: CopyPhase, done: number, of: number) => void;

/**
 * Throws `store.not-empty` for a target that holds something else, `store.copy-incomplete` for a source that is an
 * unfinished copy, and `copy.differs` when source and target differ at
 * the end; errors of the stores.
 */
export async function copyStore(
  source: CopySide,
  target: CopySide,
  progress: CopyProgress,
): Promise<CopyReport> {
  if ((await source.marker()) !== undefined) {
    throw new Fatal(
      'store.copy-incomplete',
      `${source.location} is itself the target of a copy that is not finished. Finish that one first.`,
    );
  }
  const tables = await digestTables(source, 'read source', progress);
  const total = sum(tables);
  const digest = createHash('sha256').update(JSON.stringify(tables)).digest('hex');
  const marker = await target.marker();
  const held = await countAll(target);
  if (marker === undefined && held > 0) {
    const there = await digestTables(target, 'compare', progress);
    if (differences(tables, there).length > 0) throw notEmpty(source, target);
    return { result: 'unchanged', tables, written: 0 };
  }
  if (marker !== undefined && marker.digest !== digest) {
    throw new Fatal(
      'store.not-empty',
      `${target.location} holds a part of a copy of ${marker.source}: of another installation, or of an earlier state of this one. Nothing was written. Empty it (${target.howToEmpty}), and repeat the command.`,
    );
  }
  if (marker === undefined) await target.begin({ source: source.location, digest });
  const written = await copyTables(source, target, (done) => progress('copy', held + done, total));
  const there = await digestTables(target, 'compare', progress);
  const different = differences(tables, there);
  if (different.length > 0) {
    throw new Fatal(
      'copy.differs',
      `The copy differs from its source: ${different.join('; ')}. Empty ${target.location} (${target.howToEmpty}), and repeat the command.`,
    );
  }
  await target.finish();
  return { result: marker === undefined ? 'copied' : 'resumed', tables, written };
}

/** Copies the records that the target lacks. Returns their number. */
async function copyTables(
  source: CopySide,
  target: CopySide,
  progress: (done: number) => void,
): Promise<number> {
  let done = 0;
  for (const table of COPIED_TABLES) {
    let after = await target.lastKey(table);
    for (;;) {
      const records = await source.read(table, after);
      if (records.length === 0) break;
      await target.write(table, records);
      after = records.at(-1)?.key;
      done += records.length;
      progress(done);
    }
  }
  return done;
}

async function digestTables(
  side: CopySide,
  phase: CopyPhase,
  progress: CopyProgress,
): Promise<readonly TableDigest[]> {
  const total = await countAll(side);
  const digests: TableDigest[] = [];
  let done = 0;
  for (const table of COPIED_TABLES) {
    const hash = createHash('sha256');
    let records = 0;
    let last: StoreRecord | undefined;
    do {
      const batch = await side.read(table, last?.key);
      for (const { key, value } of batch) hash.update(`${JSON.stringify([key, value])}\n`);
      last = batch.at(-1);
      records += batch.length;
      progress(phase, done + records, total);
    } while (last !== undefined);
    done += records;
    digests.push({ table, records, sha256: hash.digest('hex') });
  }
  return digests;
}

async function countAll(side: CopySide): Promise<number> {
  let count = 0;
  for (const table of COPIED_TABLES) count += await side.count(table);
  return count;
}

function sum(tables: readonly TableDigest[]): number {
  return tables.reduce((total, { records }) => total + records, 0);
}

function differences(source: readonly TableDigest[], target: readonly TableDigest[]): readonly string[] {
  return source.flatMap(({ table, records, sha256 }, at) => {
    const other = target[at];
    if (other?.sha256 === sha256 && other.records === records) return [];
    return [`${table} (source ${records} records, target ${other?.records ?? 0})`];
  });
}

function notEmpty(source: CopySide, target: CopySide): Fatal {
  return new Fatal(
    'store.not-empty',
    `${target.location} holds another installation, or another state of ${source.location}. Nothing was written. If it is no longer needed, empty it (${target.howToEmpty}), and repeat the command.`,
  );
}
