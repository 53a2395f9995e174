/** Rules that concern several keys of the actor runtime. */
import type { Fault } from './report.ts';
import type { Settings } from './table.ts';

/** Adds a fault for each key that does not fit `Runtime:Store`. Source: docs/configuration.md. */
export function checkRuntime({ runtime }: Settings, faults: Fault[]): void {
  if (runtime.store !== 'postgres') return;
  const { url } = runtime.postgres;
  if (url === undefined)
    faults.push({ key: 'Runtime:Postgres:Url', rule: 'is required by Runtime:Store=postgres' });
  else if (!isPostgresUrl(url))
    faults.push({
      key: 'Runtime:Postgres:Url',
      rule: 'must be like postgres://user:password@host:port/database',
    });
  if (runtime.shards !== 1)
    faults.push({ key: 'Runtime:Shards', rule: 'must be 1 with Runtime:Store=postgres' });
}

function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname } = new URL(text);
  return (protocol === 'postgres:' || protocol === 'postgresql:') && hostname !== '' && pathname.length > 1;
}
