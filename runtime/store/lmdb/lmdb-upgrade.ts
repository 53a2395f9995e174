/** Adds data that stores of earlier versions lack, once when they are opened. */
import type { StoredActor } from '../../model/ports.ts';
import {
  STATE_INDEX_PREFIX,
  STATE_INDEX_VIEW,
  STOPPED_PREFIX,
  STOPPED_VIEW,
  stateCounterName,
  stateIndexEntryOf,
  stateIndexKey,
} from '../../step/derive.ts';
import { type EffectValue, parseStored, STORE_FORMAT, type Tables, transact } from './lmdb-tables.ts';

/** Upgrades a store in one transaction. Call it before any write. */
export function upgradeTables(tables: Tables): void {
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
