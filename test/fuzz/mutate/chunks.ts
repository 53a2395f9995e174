/** Mutations of files that consist of chunks with lengths and checksums: PNG, JPEG and ZIP. */
import { crc32, deflateSync } from 'node:zlib';
import type { Random } from '../random.ts';
import { bytesMutation } from './bytes.ts';
import { derMutation } from './der.ts';
import { type Mutation, oneOf } from './mutation.ts';
import { xmlMutation } from './xml.ts';

export interface Chunk {
  readonly type: Buffer;
  readonly data: Buffer;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    if (length > png.length - at - 12) break;
    chunks.push({ type: png.subarray(at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

/** Builds a file of these chunks, with correct lengths and checksums. */
export function joinChunks(signature: Buffer, chunks: readonly Chunk[]): Buffer {
  const parts = chunks.map(({ type, data }) => {
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length);
    const body = Buffer.concat([type, data]);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  });
  return Buffer.concat([signature, ...parts]);
}

const EXTENTS = [0, 1, 2, 3, 7, 8, 9, 255, 4096, 65_535, 0x7fffffff, 0xffffffff];
const TYPES = ['IHDR', 'PLTE', 'IDAT', 'tRNS', 'IEND', 'acTL', 'iCCP', 'gAMA', 'abcd', 'ABCD'];

function headChanged({ type, data }: Chunk, random: Random): Chunk {
  const copy = Buffer.from(data);
  if (copy.length < 13) return { type, data };
  if (random.once(2)) copy.writeUInt32BE(random.pick(EXTENTS), random.pick([0, 4]));
  else copy[8 + random.below(5)] = random.pick([0, 1, 2, 3, 4, 6, 8, 16, 255]);
  return { type, data: copy };
}

/** Changes a PNG chunk by chunk, with correct checksums. */
const pngChunks: Mutation = (input, random, other) => {
  const chunks = chunksOf(input);
  const index = random.below(chunks.length);
  const chunk = chunks[index];
  if (chunk === undefined) return bytesMutation(input, random, other);
  const foreign = chunksOf(other);
  const change = (changed: readonly Chunk[]): Buffer =>
    joinChunks(input.subarray(0, 8), [...chunks.slice(0, index), ...changed, ...chunks.slice(index + 1)]);
  switch (random.below(7)) {
    case 0:
      return change([]);
    case 1:
      return change([chunk, chunk]);
    case 2:
      return change([{ type: chunk.type, data: bytesMutation(chunk.data, random, other) }]);
    case 3:
      return change([{ type: Buffer.from(random.pick(TYPES)), data: chunk.data }]);
    case 4:
      return change(foreign.length === 0 ? [chunk] : [chunk, random.pick(foreign)]);
    case 5:
      return change([{ type: Buffer.from('IDAT'), data: deflateSync(random.bytes(random.below(500))) }]);
    default:
      return joinChunks(
        input.subarray(0, 8),
        chunks.map((one, place) => (place === 0 ? headChanged(one, random) : one)),
      );
  }
};

export const pngMutation: Mutation = oneOf([pngChunks, pngChunks, pngChunks, bytesMutation]);

/** Changes one field after the signature of a record; `marks` are the signatures as written in the file. */
function fieldsBehind(marks: readonly Buffer[], span: number): Mutation {
  return (input, random, other) => {
    const places: number[] = [];
    for (const mark of marks) {
      for (let at = input.indexOf(mark); at >= 0; at = input.indexOf(mark, at + 1))
        places.push(at + mark.length);
    }
    if (places.length === 0) return bytesMutation(input, random, other);
    const at = random.pick(places) + random.below(span);
    const copy = Buffer.from(input);
    const width = random.pick([1, 2, 4]);
    if (at + width > copy.length) return input;
    copy.writeUIntLE(
      random.pick([0, 1, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff]) % 2 ** (8 * width),
      at,
      width,
    );
    return copy;
  };
}

const ZIP_MARKS = ['504b0304', '504b0102', '504b0506', '504b0606', '504b0607'].map((hex) =>
  Buffer.from(hex, 'hex'),
);
const JPEG_MARKS = ['ffc0', 'ffc2', 'ffc4', 'ffda', 'ffdb', 'ffe0', 'ffee'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

export const zipMutation: Mutation = oneOf([
  fieldsBehind(ZIP_MARKS, 42),
  fieldsBehind(ZIP_MARKS, 42),
  bytesMutation,
]);
export const jpegMutation: Mutation = oneOf([fieldsBehind(JPEG_MARKS, 12), bytesMutation]);

interface Member {
  readonly name: Buffer;
  readonly data: Buffer;
}

/** Reads the stored members of a ZIP file by their local headers. */
function membersOf(zip: Buffer): Member[] {
  const members: Member[] = [];
  for (let at = 0; at + 30 <= zip.length && zip.readUInt32LE(at) === LOCAL; ) {
    const length = zip.readUInt32LE(at + 18);
    const nameAt = at + 30;
    const from = nameAt + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
    if (zip.readUInt16LE(at + 8) !== 0 || from + length > zip.length) break;
    members.push({
      name: zip.subarray(nameAt, nameAt + zip.readUInt16LE(at + 26)),
      data: zip.subarray(from, from + length),
    });
    at = from + length;
  }
  return members;
}

const LOCAL = 0x04034b50;

/** Builds a ZIP file of stored members, with correct lengths and checksums. */
function zipOf(members: readonly Member[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data } of members) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(LOCAL);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(0x0800, 6);
    local.writeUInt16LE(0x21, 12);
    local.writeUInt32LE(crc32(data), 14);
    local.writeUInt32LE(data.length, 18);
    local.writeUInt32LE(data.length, 22);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt16LE(20, 4);
    local.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(at, 42);
    locals.push(local, name, data);
    directory.push(entry, name);
    at += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

/** Changes members of a container by their type, or the set of members; the ZIP structure stays valid. */
export const memberMutation: Mutation = (input, random, other) => {
  const members = membersOf(input);
  const index = random.below(members.length);
  const member = members[index];
  if (member === undefined) return bytesMutation(input, random, other);
  const foreign = membersOf(other);
  const donor = foreign.length > 0 ? random.pick(foreign) : member;
  const inside =
    member.data[0] === 0x30 ? derMutation : member.data[0] === 0x3c ? xmlMutation : bytesMutation;
  const by: readonly (() => readonly Member[])[] = [
    () => [{ name: member.name, data: inside(member.data, random, donor.data) }],
    () => [{ name: member.name, data: inside(member.data, random, donor.data) }],
    () => [{ name: member.name, data: inside(member.data, random, donor.data) }],
    () => [],
    () => [member, donor],
    () => [member, { name: donor.name, data: member.data }],
    () => [{ name: bytesMutation(member.name, random, donor.name), data: member.data }],
    () => [member, { name: Buffer.concat([Buffer.from('META-INF/x'), member.name]), data: donor.data }],
  ];
  return zipOf([...members.slice(0, index), ...random.pick(by)(), ...members.slice(index + 1)]);
};
