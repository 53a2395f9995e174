/** Versions of what is stored. A program refuses a store whose version is higher than its own. */

/** Tables of a store on LMDB; incremented when earlier programs would misread them. */
export const STORE_FORMAT = 5;

/** Tables and functions of a schema on PostgreSQL (`store/postgres/schema.ts`). */
export const SCHEMA_VERSION = 7;
