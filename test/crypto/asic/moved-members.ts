/**
 * Generates containers whose members are moved, duplicated, renamed, exchanged or replaced, or whose records contradict
 * each other, from two valid containers of one form. A reader that believes the verdict must find the signed data objects under their signed names.
 */
import { crc32 } from 'node:zlib';
import { type HandMade, handMade } from './container-harness.ts';

export interface ForgedContainer {
  readonly bytes: Buffer;
  readonly description: string;
  /** Data objects, in any order. */
  readonly data: readonly HandMade[];
}

/** Names that some readers take for `name`. */
function lookalikes(name: string): string[] {
  return [
    name.toUpperCase(),
    `./${name}`,
    `/${name}`,
    `x/../${name}`,
    name.replaceAll('/', '\\'),
    encodeURIComponent(name),
    name.normalize('NFD'),
    `${name} `,
    `${name}.`,
    `${name}\0.txt`,
    name.replace(/e/, '\u0435'),
    `META-INF/${name}`,
    `${name}/`,
  ].filter((one) => one !== name);
}

const isData = ({ name }: HandMade): boolean => name !== 'mimetype' && !name.startsWith('META-INF/');

/** Tells whether two containers have the same data objects; a CAdES signature in ASiC-S covers no name. */
export function haveSameData(
  one: readonly HandMade[],
  other: readonly HandMade[],
  areNamesSigned: boolean,
): boolean {
  const listed = (members: readonly HandMade[]): string[] =>
    members
      .filter(isData)
      .map(({ name, bytes }) => `${areNamesSigned ? name : ''} ${bytes.toString('hex')}`)
      .sort();
  return JSON.stringify(listed(one)) === JSON.stringify(listed(other));
}

/**
 * @param honest members of the valid container
 * @param other members of another valid container of the same form, over other data
 */
export function* movedMembers(
  honest: readonly HandMade[],
  other: readonly HandMade[],
): Generator<ForgedContainer> {
  for (const [description, members] of changes(honest, other)) {
    yield { bytes: handMade(members), description, data: members };
  }
  yield* contradictions(honest, other);
  yield* furtherManifests(honest);
}

/** Info-ZIP Unicode path (APPNOTE §4.6.9): another name of a member. */
function unicodePath(name: string, other: string): Buffer {
  const path = Buffer.from(other);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + path.length, 2);
  field[4] = 1;
  field.writeUInt32LE(crc32(Buffer.from(name)), 5);
  return Buffer.concat([field, path]);
}

/** Containers that hold two: their records contradict each other. `data` is what the other reading shows. */
function* contradictions(
  honest: readonly HandMade[],
  other: readonly HandMade[],
): Generator<ForgedContainer> {
  for (const [index, member] of honest.entries()) {
    if (!isData(member)) continue;
    const { name } = member;
    const seen = (change: Partial<HandMade>) => honest.with(index, { ...member, ...change });
    for (const alias of [`other-${name}`, name.toUpperCase(), `${name}.exe`]) {
      const extra = unicodePath(name, alias);
      for (const place of [{ extra }, { localExtra: extra }, { extra, localExtra: extra }]) {
        const where = Object.keys(place).join(' and ');
        yield {
          bytes: handMade(honest.with(index, { ...member, ...place })),
          description: `${name} also called ${alias} by its ${where}`,
          data: seen({ name: alias }),
        };
      }
    }
    const forged = Buffer.from('Nine hundred barrels.\n');
    const halves: readonly (readonly [string, Partial<HandMade>])[] = [
      ['a length', { size: forged.length }],
      ['a checksum', { crc32: crc32(forged) }],
      ['a method', { method: 8 }],
      ['flags', { flags: 0x808 }],
      ['local flags', { localFlags: 8 }],
      ['bytes after it', { after: handMade([{ name, bytes: forged }]) }],
      ['an offset', { offset: 0 }],
      ['a local copy', { localBytes: forged, deflate: true }],
    ];
    for (const [what, change] of halves) {
      yield {
        bytes: handMade(honest.with(index, { ...member, ...change })),
        description: `${name} with ${what} of another file`,
        data: seen({ bytes: forged }),
      };
    }
  }
  const second = handMade(other);
  for (const [where, more] of [
    ['before', { before: second }],
    ['inside', { between: second }],
    ['in the comment of', { comment: second }],
  ] as const) {
    const isLong = second.length > 0xffff && where === 'in the comment of';
    if (!isLong)
      yield { bytes: handMade(honest, more), description: `another container ${where} it`, data: other };
  }
  yield {
    bytes: Buffer.concat([handMade(honest), second]),
    description: 'another container after it',
    data: honest,
  };
  yield {
    bytes: Buffer.concat([second, handMade(honest)]),
    description: 'it after another container',
    data: other,
  };
}

/** Containers with a further manifest that says another thing of a file; none of them may pass. */
function* furtherManifests(honest: readonly HandMade[]): Generator<ForgedContainer> {
  for (const { name, bytes } of honest) {
    if (!/ASiC(?:Archive)?Manifest/.test(name)) continue;
    const text = bytes.toString();
    const digest = /<(?:[a-z]+:)?DigestValue>([^<]*)</.exec(text)?.[1] ?? '';
    const changes: readonly (readonly [string, string])[] = [
      ['with another digest', text.replace(digest, Buffer.alloc(32).toString('base64'))],
      ['as it is', text],
      ['without its signature', text.replace(/(SigReference URI=")[^"]*/, '$1META-INF/none.p7s')],
      ['of a missing file', text.replace(/(DataObjectReference URI=")[^"]*/, '$1missing.txt')],
    ];
    for (const [what, content] of changes) {
      for (const added of [
        'ASiCManifest000.xml',
        'ASiCManifest999.xml',
        'asicmanifest.xml',
        'x/ASiCManifest.xml',
      ]) {
        for (const isFirst of [true, false]) {
          const further = { name: `META-INF/${added}`, bytes: Buffer.from(content) };
          const members = isFirst ? [honest[0], further, ...honest.slice(1)] : [...honest, further];
          yield {
            bytes: handMade(members.filter((one) => one !== undefined)),
            description: `a manifest ${added} ${what}, ${isFirst ? 'first' : 'last'}`,
            data: [],
          };
        }
      }
    }
  }
}

function* changes(
  honest: readonly HandMade[],
  other: readonly HandMade[],
): Generator<readonly [string, readonly HandMade[]]> {
  const forged = Buffer.from('Nine hundred barrels.\n');
  for (const [index, member] of honest.entries()) {
    const { name, bytes } = member;
    const without = honest.toSpliced(index, 1);
    yield [`without ${name}`, without];
    const contents = new Map([
      ['forged bytes', forged],
      ['nothing', Buffer.alloc(0)],
      ['its bytes', bytes],
      ['the bytes of the other container', other.find((one) => one.name === name)?.bytes ?? forged],
    ]);
    for (const [what, content] of contents) {
      const second = { name, bytes: content };
      if (what !== 'its bytes') yield [`${name} replaced by ${what}`, honest.with(index, second)];
      yield [`${name} twice, ${what} first`, honest.toSpliced(index, 0, second)];
      yield [`${name} twice, ${what} last`, [...honest, second]];
      yield [
        `${name} with ${what} in its local header only`,
        honest.with(index, { ...member, localBytes: content }),
      ];
      for (const alias of lookalikes(name)) {
        yield [`${what} added as ${JSON.stringify(alias)}`, [...honest, { name: alias, bytes: content }]];
        yield [
          `${name} renamed ${JSON.stringify(alias)}, ${what} in its place`,
          [...without, { name: alias, bytes }, second],
        ];
      }
      yield [
        `${name} hidden from the directory, ${what} in its place`,
        [...honest.with(index, { ...member, hidden: true }), second],
      ];
    }
    for (const alias of lookalikes(name)) {
      yield [`${name} renamed ${JSON.stringify(alias)}`, honest.with(index, { ...member, name: alias })];
      yield [
        `${name} called ${JSON.stringify(alias)} in its local header`,
        honest.with(index, { ...member, localName: alias }),
      ];
    }
    for (const [at, { name: second, bytes: content }] of honest.entries()) {
      if (at <= index) continue;
      yield [
        `${name} and ${second} exchanged`,
        honest.with(index, { name, bytes: content }).with(at, { name: second, bytes }),
      ];
    }
    for (const foreign of other) {
      yield [
        `${name} replaced by the other ${foreign.name}`,
        honest.with(index, { name, bytes: foreign.bytes }),
      ];
      yield [
        `the other ${foreign.name} beside ${name}`,
        [
          ...honest,
          { name: `META-INF/x${index}-${foreign.name.replace('META-INF/', '')}`, bytes: foreign.bytes },
        ],
      ];
    }
  }
}
