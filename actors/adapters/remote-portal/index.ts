/** The remote portal over HTTP. */
export { createRemotePortal, type RemotePortalOptions } from './remote-portal.ts';
