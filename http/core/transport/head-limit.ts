/**
 * Maximum size of a request head (request line and headers), bytes; the library's default of 4096 is too small behind
 * proxies that add headers. It can be set by an environment variable only:
 * https://github.com/uNetworking/uWebSockets.js/issues/1179
 */
export const MAX_HEAD_BYTES = 16 * 1024;
