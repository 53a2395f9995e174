import type { Source } from '../files/source.ts';

/** Encodes a file in Base64 without line breaks, chunk by chunk. @throws {CryptoError} as `Source.chunks` */
export function* base64Of(
  source: Pick<Source, 'chunks'>,
  onChunk?: (chunk: Buffer) => void,
): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of source.chunks()) {
    onChunk?.(chunk);
    // Three bytes make four characters: only the last chunk may leave a remainder.
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = whole.length - (whole.length % 3);
    yield whole.toString('base64', 0, end);
    rest = Buffer.from(whole.subarray(end));
  }
  yield rest.toString('base64');
}
