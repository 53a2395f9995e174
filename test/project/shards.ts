/** `SEALWRIGHT_SHARDS=N` runs any suite that drives a whole service with its actors on N threads. */
export const SHARDS = Number(process.env['SEALWRIGHT_SHARDS'] ?? 1);
