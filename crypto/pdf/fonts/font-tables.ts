/** Writes the table directory of a TrueType font (OpenType 1.9, `otff`). */

/** Fills up to a multiple of four bytes, as tables and outlines are stored. */
export function padded(bytes: Buffer): Buffer {
  return bytes.length % 4 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(4 - (bytes.length % 4))]);
}

const ENTRY = 16;
/** Checksum of a whole font file, its checkSumAdjustment included. */
const WHOLE_SUM = 0xb1b0afba;

/** Writes a font file. @param tables in the order of their names */
export function fontFile(tables: readonly (readonly [name: string, bytes: Buffer])[]): Buffer {
  const power = Math.floor(Math.log2(tables.length));
  const directory = Buffer.alloc(12 + ENTRY * tables.length);
  directory.writeUInt32BE(0x00010000, 0);
  directory.writeUInt16BE(tables.length, 4);
  directory.writeUInt16BE(ENTRY * 2 ** power, 6);
  directory.writeUInt16BE(power, 8);
  directory.writeUInt16BE(ENTRY * (tables.length - 2 ** power), 10);
  let offset = directory.length;
  let headAt = 0;
  const bodies = tables.map(([name, bytes], index) => {
    const entry = 12 + ENTRY * index;
    const body = padded(bytes);
    directory.write(name, entry, 'latin1');
    directory.writeUInt32BE(sumOf(body), entry + 4);
    directory.writeUInt32BE(offset, entry + 8);
    directory.writeUInt32BE(bytes.length, entry + 12);
    if (name === 'head') headAt = offset;
    offset += body.length;
    return body;
  });
  const file = Buffer.concat([directory, ...bodies]);
  file.writeUInt32BE((WHOLE_SUM - sumOf(file)) >>> 0, headAt + 8);
  return file;
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
}
