/** The HTTP face: what the entry point may use. */
export type { RequestObservation } from './dispatch.ts';
export { type BatchServerParts, createBatchServer, type HttpServer, ListenFailure } from './server.ts';
export type { HttpSettings, RateWindow } from './settings.ts';
export { loadUws } from './uws.ts';
