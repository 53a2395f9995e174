/**
 * Checks a logo and writes it anew from the parts that a picture needs: metadata, unknown parts and anything after its
 * end are left out, so that nothing but pixels is served.
 *
 * Source: ISO/IEC 15948 (PNG) clauses 5 and 11; ITU-T T.81 (JPEG) annex B.
 */
import { createHash } from 'node:crypto';
import { crc32, inflateSync } from 'node:zlib';
import { jpegOrientation } from '@sealwright/signatures';
import { MAX_LOGO_BYTES } from '../../../contracts/portal/branding.ts';
import type { Logo } from '../../../machines/portal/branding.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

/** Pixels. */
const MAX_LOGO_WIDTH = 1200;
const MAX_LOGO_HEIGHT = 600;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Chunks that are kept: those that decide the pixels and their colours. */
const PNG_CHUNKS = new Set(['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND']);
/** Samples of a pixel by colour type. */
const PNG_SAMPLES: { readonly [type: number]: number } = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Refusals: `InvalidBranding`. */
export function cleanLogo(given: Buffer): Logo {
  if (given.length > MAX_LOGO_BYTES)
    throw refused(`The logo has ${given.length} bytes; at most ${MAX_LOGO_BYTES} are accepted.`);
  const isPng = given.subarray(0, PNG.length).equals(PNG);
  if (!isPng && given.subarray(0, 2).toString('hex') !== 'ffd8')
    throw refused('The logo is neither a PNG nor a JPEG file. Save it as one of them.');
  const { bytes, width, height } = isPng ? cleanPng(given) : cleanJpeg(given);
  return {
    contentType: isPng ? 'image/png' : 'image/jpeg',
    width,
    height,
    bytes: bytes.toString('base64'),
    digest: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
  };
}

interface Picture {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

function cleanPng(file: Buffer): Picture {
  const kept: Buffer[] = [PNG];
  const data: Buffer[] = [];
  let header: Buffer | undefined;
  for (let at = PNG.length; ; ) {
    if (at + 12 > file.length) throw damaged('PNG');
    const length = file.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > file.length) throw damaged('PNG');
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, end - 4);
    if (crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) throw damaged('PNG');
    if ((header === undefined) !== (type === 'IHDR')) throw damaged('PNG');
    if (type === 'IHDR') header = body;
    if (type === 'IDAT') data.push(body);
    if (PNG_CHUNKS.has(type)) kept.push(file.subarray(at, end));
    else if (/^[A-Z]/.test(type)) throw damaged('PNG');
    at = end;
    if (type === 'IEND') break;
  }
  if (header?.length !== 13) throw damaged('PNG');
  const size = assertSize(header.readUInt32BE(0), header.readUInt32BE(4));
  const samples = PNG_SAMPLES[header.readUInt8(9)];
  const bits = header.readUInt8(8);
  if (samples === undefined || ![1, 2, 4, 8, 16].includes(bits)) throw damaged('PNG');
  if (header.readUInt8(12) !== 0)
    throw refused('The logo is an interlaced PNG. Save it without interlacing.');
  const expected = (Math.ceil((size.width * samples * bits) / 8) + 1) * size.height;
  if (inflated(Buffer.concat(data), expected) !== expected) throw damaged('PNG');
  return { bytes: Buffer.concat(kept), ...size };
}

/** Length of the decompressed samples; more than expected are not made. */
function inflated(data: Buffer, expected: number): number {
  try {
    return inflateSync(data, { maxOutputLength: expected }).length;
  } catch {
    return -1;
  }
}

/** Frame headers of baseline and progressive JPEG. */
const JPEG_FRAMES = new Set([0xc0, 0xc1, 0xc2]);
/** Tables, frame, restart interval, and JFIF: the other segments are metadata. */
const JPEG_SEGMENTS = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xdb, 0xdd, 0xe0, 0xda]);

function cleanJpeg(file: Buffer): Picture {
  const kept: Buffer[] = [file.subarray(0, 2)];
  let size: { readonly width: number; readonly height: number } | undefined;
  let hasScan = false;
  for (let at = 2; ; ) {
    if (at + 2 > file.length || file.readUInt8(at) !== 0xff) throw damaged('JPEG');
    const marker = file.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) break;
    if (at + 4 > file.length) throw damaged('JPEG');
    const end = at + 2 + file.readUInt16BE(at + 2);
    if (end > file.length || end < at + 4) throw damaged('JPEG');
    if (JPEG_FRAMES.has(marker)) {
      if (size !== undefined || end - at < 10) throw damaged('JPEG');
      size = assertSize(file.readUInt16BE(at + 7), file.readUInt16BE(at + 5));
    } else if (marker >= 0xc3 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      throw refused('The logo is a JPEG of a kind that browsers do not show. Save it as a baseline JPEG.');
    // The colour transform of an Adobe segment decides the colours (ITU-T T.872 6.5.3).
    const turned = marker === 0xe1 ? jpegOrientation(file.subarray(at + 4, end)) : undefined;
    if (turned !== undefined && turned !== 1)
      throw refused('The logo is turned by its metadata only, which is left out. Save it upright.');
    const isTransform = marker === 0xee && end - at === 16;
    if (JPEG_SEGMENTS.has(marker) || isTransform) kept.push(file.subarray(at, end));
    at = end;
    if (marker !== 0xda) continue;
    hasScan = true;
    const next = endOfScan(file, at);
    kept.push(file.subarray(at, next));
    at = next;
  }
  if (size === undefined || !hasScan) throw damaged('JPEG');
  kept.push(Buffer.from([0xff, 0xd9]));
  return { bytes: Buffer.concat(kept), ...size };
}

/** Position of the marker after the entropy-coded bytes; stuffed bytes and restart markers belong to them. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at >= 0 && at + 1 < file.length; at = file.indexOf(0xff, at + 2)) {
    const marker = file.readUInt8(at + 1);
    if (marker !== 0 && !(marker >= 0xd0 && marker <= 0xd7)) return at;
  }
  throw damaged('JPEG');
}

function assertSize(width: number, height: number): { readonly width: number; readonly height: number } {
  if (width < 1 || height < 1 || width > MAX_LOGO_WIDTH || height > MAX_LOGO_HEIGHT)
    throw refused(
      `The logo has ${width} x ${height} pixels; at most ${MAX_LOGO_WIDTH} x ${MAX_LOGO_HEIGHT} are accepted.`,
    );
  return { width, height };
}

function damaged(kind: string): PortalRefusal {
  return refused(`The logo is a damaged ${kind} file.`);
}

function refused(message: string): PortalRefusal {
  return new PortalRefusal('InvalidBranding', message);
}
