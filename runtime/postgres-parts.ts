/** Parts of stores on PostgreSQL, for programs that build a runtime themselves. Their types need those of `pg`. */

export { hostsWithoutTls, parsePostgresUrl } from './store/postgres/connection/connection-url.ts';
export { finishUpgrade } from './store/postgres/finish-upgrade.ts';
export { openPostgresCopy } from './store/postgres/postgres-copy.ts';
export { openPostgresReader, openPostgresStore } from './store/postgres/postgres-store.ts';
