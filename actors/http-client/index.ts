export {
  AddressNotAllowed,
  type AddressPolicy,
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type OutgoingRequest,
  type ResolvedAddress,
} from './http-client.ts';
export { isPublicAddress, literalAddress } from './public-addresses.ts';
