/** Mutations independent of the format. */
import type { Random } from '../random.ts';
import { type Mutation, oneOf, replaced } from './mutation.ts';

const EDGES = [0, 1, 2, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xfe, 0xff, 0x20, 0x0a];
const NUMBERS = [
  0, 1, -1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
];

/** Selects a position and a length inside the input. Lengths are mostly small. */
function range(input: Buffer, random: Random): { readonly from: number; readonly to: number } {
  const from = random.below(input.length);
  const most = random.once(4) ? input.length : 16;
  return { from, to: Math.min(input.length, from + 1 + random.below(most)) };
}

function edit(change: (copy: Buffer, random: Random) => void): Mutation {
  return (input, random) => {
    if (input.length === 0) return input;
    const copy = Buffer.from(input);
    change(copy, random);
    return copy;
  };
}

const flipBit = edit((copy, random) => {
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
});

const setByte = edit((copy, random) => {
  copy[random.below(copy.length)] = random.once(2) ? random.pick(EDGES) : random.next();
});

const setNumber = edit((copy, random) => {
  const number = random.pick(NUMBERS) >>> 0;
  const width = random.pick([2, 4]);
  if (copy.length < width) return;
  const at = random.below(copy.length - width + 1);
  const value = width === 2 ? number & 0xffff : number;
  if (random.once(2)) copy.writeUIntBE(value, at, width);
  else copy.writeUIntLE(value, at, width);
});

const remove: Mutation = (input, random) => {
  const { from, to } = range(input, random);
  return replaced(input, from, to, Buffer.alloc(0));
};

const insert: Mutation = (input, random) => {
  const at = random.below(input.length + 1);
  const bytes = random.once(3)
    ? Buffer.alloc(1 + random.below(300), random.pick(EDGES))
    : random.bytes(1 + random.below(12));
  return replaced(input, at, at, bytes);
};

const duplicate: Mutation = (input, random) => {
  const { from, to } = range(input, random);
  const times = random.once(8) ? 100 : 1;
  const at = random.once(2) ? to : random.below(input.length + 1);
  const piece = input.subarray(from, to);
  const room = Math.max(1, Math.floor(65_536 / Math.max(1, piece.length)));
  return replaced(input, at, at, Buffer.concat(Array.from({ length: Math.min(times, room) }, () => piece)));
};

const splice: Mutation = (input, random, other) => {
  const { from, to } = range(other, random);
  const place = range(input, random);
  return replaced(input, place.from, random.once(2) ? place.from : place.to, other.subarray(from, to));
};

/** Joins the start of one input and the end of the other. */
const cross: Mutation = (input, random, other) =>
  Buffer.concat([
    input.subarray(0, random.below(input.length + 1)),
    other.subarray(random.below(other.length + 1)),
  ]);

const cut: Mutation = (input, random) => input.subarray(0, random.below(input.length + 1));

export const bytesMutation: Mutation = oneOf([
  flipBit,
  flipBit,
  setByte,
  setByte,
  setNumber,
  setNumber,
  remove,
  insert,
  duplicate,
  splice,
  splice,
  cross,
  cut,
]);
