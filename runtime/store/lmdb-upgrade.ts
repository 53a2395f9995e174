/** What stores of earlier programs lack, added once when they are opened. */
import {
  CENSUS_PREFIX,
  CENSUS_VIEW,
  censusKey,
  censusName,
  placeOf,
  STOPPED_PREFIX,
  STOPPED_VIEW,
} from '../census.ts';
import type { StoredActor } from '../ports.ts';
import type { EffectValue, Tables } from './lmdb-tables.ts';
import { STORE_FORMAT, transact } from './lmdb-tables.ts';

/** To be called before anybody writes. All of it is one transaction. */
export function upgradeTables(tables: Tables): void {
  // From here on it may hold what programs of earlier formats would overlook.
  if (Number(tables.meta.get(['format'])) < STORE_FORMAT)
    tables.meta.putSync(['format'], String(STORE_FORMAT));
  if (tables.meta.doesExist(['census'])) return;
  transact(tables, () => {
    const counted = new Map<string, number>();
    const count = (name: string) => counted.set(name, (counted.get(name) ?? 0) + 1);
    for (const { value } of tables.actors.getRange()) {
      const actor = JSON.parse(value) as StoredActor;
      const { kind, id } = actor.address;
      const place = placeOf(actor);
      count(censusName(kind, place));
      void tables.rows.put([CENSUS_VIEW, ...censusKey(kind, place, id)], 'null');
      if (actor.stopped === null) continue;
      count(STOPPED_PREFIX + kind);
      void tables.rows.put([STOPPED_VIEW, kind, id], JSON.stringify(actor.stopped));
    }
    for (const name of [...tables.counters.getKeys({ start: [CENSUS_PREFIX] })]) {
      const text = String(name);
      if (text.startsWith(CENSUS_PREFIX) && !counted.has(text)) void tables.counters.remove([text]);
    }
    for (const [name, value] of counted) void tables.counters.put([name], String(value));
    for (const { key, value } of tables.due.getRange()) {
      const [due, ...effect] = key;
      if ((JSON.parse(value) as EffectValue).failures > 0) void tables.troubled.put(effect, String(due));
    }
    void tables.meta.put(['census'], '1');
  });
}
