/**
 * RC4, used by PDF up to version 1.5. OpenSSL 3 has it in the legacy provider, which is not loaded by
 * default; it opens old files and gives no protection.
 */
export function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = new Uint8Array(256);
  for (let index = 0; index < 256; index++) state[index] = index;
  for (let index = 0, other = 0; index < 256; index++) {
    const value = state[index] as number;
    other = (other + value + (key[index % key.length] ?? 0)) & 255;
    state[index] = state[other] as number;
    state[other] = value;
  }
  const out = Buffer.allocUnsafe(data.length);
  for (let index = 0, first = 0, second = 0; index < data.length; index++) {
    first = (first + 1) & 255;
    const left = state[first] as number;
    second = (second + left) & 255;
    const right = state[second] as number;
    state[first] = right;
    state[second] = left;
    out[index] = (data[index] as number) ^ (state[(left + right) & 255] as number);
  }
  return out;
}
