/** HTTP client that connects to public addresses alone where the caller wants that. */
export {
  AddressNotAllowed,
  type AddressPolicy,
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type OutgoingRequest,
  type ResolvedAddress,
} from './evidence/http-client.ts';
export { tunnelAgent } from './evidence/proxy-tunnel.ts';
export { isPublicAddress, literalAddress } from './evidence/public-addresses.ts';
