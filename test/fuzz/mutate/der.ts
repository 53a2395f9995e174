/**
 * Mutations of BER and DER. Enclosing lengths are corrected after a change, so that deeper parsers see it; false
 * lengths are a separate mutation.
 */
import type { Random } from '../random.ts';
import { bytesMutation } from './bytes.ts';
import { type Mutation, oneOf } from './mutation.ts';

interface Node {
  readonly tag: number;
  readonly content: Buffer;
  readonly children: readonly Node[] | undefined;
  /** Encoding of the length when it is not minimal. */
  readonly length?: Buffer | 'indefinite';
}

const MAX_NODES = 20_000;
const MAX_DEPTH = 40;

/** Parses the elements of the bytes; undefined when they are not elements. */
function parseAll(bytes: Buffer, depth: number, budget: { nodes: number }): Node[] | undefined {
  const nodes: Node[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1];
    if (first === undefined || (tag & 0x1f) === 0x1f || first === 0x80 || first > 0x84) return undefined;
    const count = first < 0x80 ? 0 : first & 0x7f;
    const from = at + 2 + count;
    if (from > bytes.length) return undefined;
    const length = count === 0 ? first : bytes.readUIntBE(at + 2, count);
    const to = from + length;
    if (to > bytes.length || ++budget.nodes > MAX_NODES) return undefined;
    const content = bytes.subarray(from, to);
    nodes.push({ tag, content, children: childrenOf(tag, content, depth, budget) });
    at = to;
  }
  return nodes;
}

/** Parses octet strings as well, since they often hold structures. */
function childrenOf(tag: number, content: Buffer, depth: number, budget: { nodes: number }) {
  const mayHold = (tag & 0x20) !== 0 || (tag === 0x04 && content.length > 1);
  if (!mayHold || depth >= MAX_DEPTH || (content.length === 0 && tag === 0x04)) return undefined;
  return parseAll(content, depth + 1, budget);
}

function derLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

function encode({ tag, content, children, length }: Node): Buffer {
  const inside = children === undefined ? content : Buffer.concat(children.map(encode));
  if (length === 'indefinite') {
    return Buffer.concat([Buffer.from([tag | 0x20, 0x80]), inside, Buffer.from([0, 0])]);
  }
  return Buffer.concat([Buffer.from([tag]), length ?? derLength(inside.length), inside]);
}

/** Lists the nodes below a list, each with its path. */
function ways(nodes: readonly Node[], way: readonly number[] = [], all: number[][] = []): number[][] {
  nodes.forEach(({ children }, index) => {
    const path = [...way, index];
    all.push(path);
    if (children !== undefined) ways(children, path, all);
  });
  return all;
}

function nodeAt(nodes: readonly Node[], way: readonly number[]): Node | undefined {
  const [first = 0, ...rest] = way;
  const node = nodes[first];
  return rest.length === 0 ? node : nodeAt(node?.children ?? [], rest);
}

/** Replaces the node at `way` by any number of nodes. */
function withNode(nodes: readonly Node[], way: readonly number[], by: readonly Node[]): Node[] {
  const [first = 0, ...rest] = way;
  return nodes.flatMap((node, index) => {
    if (index !== first) return [node];
    return rest.length === 0 ? by : [{ ...node, children: withNode(node.children ?? [], rest, by) }];
  });
}

type NodeMutation = (node: Node, random: Random, other: Node) => readonly Node[];

const leaf = (tag: number, content: Buffer): Node => ({ tag, content, children: undefined });

const TAGS = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x24, 0x30, 0x31, 0x80,
  0x81, 0x82, 0x86, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xbf, 0x1f,
];

const OIDS = [
  '2a864886f70d010701', // data
  '2a864886f70d010702', // signedData
  '2a864886f70d01090310', // unassigned
  '2a864886f70d010904', // messageDigest
  '2a864886f70d010903', // contentType
  '2a864886f70d010905', // signingTime
  '2a864886f70d010906', // counterSignature
  '2a864886f70d010910022f', // signingCertificateV2
  '2a864886f70d010910020c', // signingCertificate
  '2a864886f70d010910020e', // signature time-stamp
  '2a864886f70d01010b', // sha256WithRSAEncryption
  '2a864886f70d010101', // rsaEncryption
  '2a864886f70d01010a', // RSASSA-PSS
  '2a8648ce3d040302', // ecdsa-with-SHA256
  '608648016503040201', // sha256
  '608648016503040203', // sha512
  '2b0e03021a', // sha1
  '2a864886f70d0205', // md5
  '2b6570', // Ed25519
  '551d13', // basicConstraints
  '551d0f', // keyUsage
  '551d1e', // nameConstraints
].map((hex) => Buffer.from(hex, 'hex'));

const VALUES: readonly ((random: Random) => Buffer)[] = [
  () => Buffer.alloc(0),
  () => Buffer.from([0]),
  () => Buffer.from([0x80]),
  () => Buffer.from([0xff]),
  () => Buffer.from([0x7f, 0xff, 0xff, 0xff]),
  () => Buffer.from([0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
  () => Buffer.alloc(4096, 0xff),
  () => Buffer.alloc(600, 0x81),
  () => Buffer.from('99991231235959Z'),
  () => Buffer.from('00000000000000Z'),
  () => Buffer.from('20260231250000Z'),
  () => Buffer.from('20260101000000.99999999999999999999Z'),
  () => Buffer.from('9912312359Z'),
  (random) => random.bytes(random.below(40)),
];

const NODES: readonly NodeMutation[] = [
  () => [],
  (node) => [node, node],
  (node, random) => Array.from({ length: 2 + random.below(random.once(10) ? 400 : 8) }, () => node),
  (node, random) => [{ ...node, tag: random.pick(TAGS) }],
  (node, random) => [{ ...node, tag: node.tag ^ random.pick([0x20, 0x80, 0x40, 1]) }],
  (node, random) => [leaf(node.tag, random.pick(VALUES)(random))],
  (node, random) => [leaf(node.tag, random.pick(VALUES)(random))],
  (node, random) => [leaf(node.tag, bytesMutation(node.content, random, Buffer.from('30030101ff', 'hex')))],
  (node, random) => [node.tag === 0x06 ? leaf(0x06, random.pick(OIDS)) : leaf(node.tag, node.content)],
  (_, random) => [leaf(0x06, random.pick(OIDS))],
  (node, _, other) => [{ ...other, tag: node.tag }],
  (_node, _random, other) => [other],
  (node, _, other) => [node, other],
  // Nests the node in itself, a few or very many times.
  (node, random) => {
    let nested: Node = node;
    for (let depth = 1 + random.below(random.once(6) ? 3000 : 4); depth > 0; depth--) {
      nested = leaf(node.tag | 0x20, encode(nested));
    }
    return [nested];
  },
  (node) => node.children ?? [],
  (node, random) => {
    const { children } = node;
    if (children === undefined) return [node];
    return [{ ...node, children: [...children].sort(() => (random.once(2) ? 1 : -1)) }];
  },
  (node) => [{ ...node, length: 'indefinite' }],
  // Encodes the length in more bytes than needed.
  (node) => [{ ...node, length: Buffer.concat([Buffer.from([0x84]), uint32(encodedLength(node))]) }],
  (node, random) => [{ ...node, length: derLength(Math.max(0, encodedLength(node) + random.below(9) - 4)) }],
  (node, random) => [
    {
      ...node,
      length: random.pick(
        ['80', '84ffffffff', '847fffffff', '85ffffffffff', '887fffffffffffffff', 'ff'].map(hex),
      ),
    },
  ],
];

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function encodedLength({ content, children }: Node): number {
  return children === undefined ? content.length : Buffer.concat(children.map(encode)).length;
}

/** Changes one element; bytes that are not elements are changed as bytes. */
const structured: Mutation = (input, random, other) => {
  const nodes = parseAll(input, 0, { nodes: 0 });
  if (nodes === undefined || nodes.length === 0) return bytesMutation(input, random, other);
  const all = ways(nodes);
  const way = random.pick(all);
  const node = nodeAt(nodes, way);
  if (node === undefined) return input;
  const foreign = random.once(2) ? parseAll(other, 0, { nodes: 0 }) : nodes;
  const source = foreign === undefined || foreign.length === 0 ? nodes : foreign;
  const donor = nodeAt(source, random.pick(ways(source))) ?? node;
  return Buffer.concat(withNode(nodes, way, random.pick(NODES)(node, random, donor)).map(encode));
};

export const derMutation: Mutation = oneOf([
  structured,
  structured,
  structured,
  structured,
  structured,
  bytesMutation,
]);
