/** The remote portal over HTTP. */
export { createRemotePortal } from './remote-portal.ts';
