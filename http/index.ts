/** The HTTP face: what the entry point may use. */

export type { ForwardedTrust } from './caller.ts';
export { type BatchServerParts, createBatchServer, type HttpServer, ListenFailure } from './server.ts';
export type { SessionKeyStore } from './session-keys.ts';
export type { HttpSettings, RateWindow } from './settings.ts';
export { loadUws } from './uws.ts';
export type { RequestObservation } from './visit.ts';
