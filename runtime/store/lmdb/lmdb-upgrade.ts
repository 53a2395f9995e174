/** Adds data that stores of earlier versions lack, once when they are opened, and keeps a copy of the store as it was before. */

import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { describeFailure, Fatal } from '../../model/failures.ts';
import type { StoredActor } from '../../model/ports.ts';
import { STORE_FORMAT } from '../../model/store-formats.ts';
import {
  STATE_INDEX_PREFIX,
  STATE_INDEX_VIEW,
  STOPPED_PREFIX,
  STOPPED_VIEW,
  stateCounterName,
  stateIndexEntryOf,
  stateIndexKey,
} from '../../step/derive.ts';
import { UPGRADING_NOTE, writeNote } from './lmdb-check.ts';
import { type EffectValue, parseStored, type Tables, transact, upgradeCopyOf } from './lmdb-tables.ts';

/**
 * Copies the store to a folder beside it, in place of an earlier copy. An upgrade that was interrupted has its copy
 * already, and keeps it. Nobody may write meanwhile. Returns the folder. Throws `store.full`.
 */
export function keepUpgradeCopy(folder: string): string {
  const target = upgradeCopyOf(folder);
  if (existsSync(join(folder, UPGRADING_NOTE)) && existsSync(target)) return target;
  const part = `${target}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { mode: 0o750 });
  try {
    copyDurably(join(folder, 'data.mdb'), join(part, 'data.mdb'));
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    const { code } = describeFailure(error);
    if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EFBIG') throw error;
    const { size } = statSync(join(folder, 'data.mdb'));
    throw new Fatal(
      'store.full',
      `An upgrade keeps the store as it was in ${target}, and its disk has no room for these ${size} bytes (${code}). ` +
        'Free some space, then start again.',
    );
  }
  rmSync(target, { recursive: true, force: true });
  renameSync(part, target);
  writeNote(folder, UPGRADING_NOTE, target);
  return target;
}

function copyDurably(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const opened = openSync(to, 'r+');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** The store is as this version wants it: the next upgrade makes a copy of its own. */
export function endUpgrade(folder: string): void {
  rmSync(join(folder, UPGRADING_NOTE), { force: true });
}

function isCurrent({ meta, actors }: Tables): boolean {
  const isCounted = meta.doesExist(['census']) || actors.getCount({ limit: 1 }) === 0;
  return isCounted && Number(meta.get(['format'])) >= STORE_FORMAT;
}

/** Upgrades a store in one transaction. Call it before any write. */
export function upgradeTables(tables: Tables, folder: string): void {
  if (!isCurrent(tables)) keepUpgradeCopy(folder);
  // From here on the store may hold data that earlier versions would ignore.
  if (Number(tables.meta.get(['format'])) < STORE_FORMAT)
    tables.meta.putSync(['format'], String(STORE_FORMAT));
  if (tables.meta.doesExist(['census'])) return;
  transact(tables, () => {
    const counted = new Map<string, number>();
    const count = (name: string) => counted.set(name, (counted.get(name) ?? 0) + 1);
    for (const { value } of tables.actors.getRange()) {
      const actor = parseStored<StoredActor>(value);
      const { kind, id } = actor.address;
      const place = stateIndexEntryOf(actor);
      count(stateCounterName(kind, place));
      void tables.rows.put([STATE_INDEX_VIEW, ...stateIndexKey(kind, place, id)], 'null');
      if (actor.stopped === null) continue;
      count(STOPPED_PREFIX + kind);
      void tables.rows.put([STOPPED_VIEW, kind, id], JSON.stringify(actor.stopped));
    }
    for (const name of [...tables.counters.getKeys({ start: [STATE_INDEX_PREFIX] })]) {
      const text = String(name);
      if (text.startsWith(STATE_INDEX_PREFIX) && !counted.has(text)) void tables.counters.remove([text]);
    }
    for (const [name, value] of counted) void tables.counters.put([name], String(value));
    for (const { key, value } of tables.due.getRange()) {
      const [due, ...effect] = key;
      if (parseStored<EffectValue>(value).failures > 0) void tables.troubled.put(effect, String(due));
    }
    void tables.meta.put(['census'], '1');
  });
}
