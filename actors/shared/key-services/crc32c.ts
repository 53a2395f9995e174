/** Checksum of RFC 3720 §12.1 (Castagnoli), over some hundred bytes at a time. */

const POLYNOMIAL = 0x82f63b78;

export function crc32c(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
