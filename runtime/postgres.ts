/** Stores on PostgreSQL: several processes (nodes) on one store. */

export { openPostgresCopy } from './store/postgres/postgres-copy.ts';
export { openPostgresReader, openPostgresStore } from './store/postgres/postgres-store.ts';
