/**
 * Generates containers whose members are moved, duplicated, renamed, exchanged or replaced, from two valid containers of
 * one form. A reader that believes the verdict must find the signed data objects under their signed names.
 */
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
