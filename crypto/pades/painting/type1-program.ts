/** Measures the glyphs of Type 1 font programs (Adobe Type 1 Font Format; ISO 32000-2, 9.9). */
import { type FontProgram, type Ink, inkAround, together } from './font-program.ts';
import { glyphKey } from './glyph-names.ts';

const FILE_KEY = 55_665;
const GLYPH_KEY = 4330;
/** Most glyphs and subroutines, nested calls, and operators of all glyphs of a font. */
const MAX_GLYPHS = 4096;
const MAX_CALLS = 10;
const MAX_STEPS = 1_000_000;

/** Returns undefined for a program that is none, is scaled in another way than by thousandths, or names a glyph twice. */
export function type1Program(file: Buffer): FontProgram | undefined {
  const text = file.toString('latin1');
  const start = text.indexOf('eexec');
  const matrix = /\/FontMatrix\s*\[\s*0?\.001\d*\s+0\s+0\s+0?\.001\d*\s+0\s+0\s*\]/.exec(text);
  if (start < 0 || matrix === null || text.indexOf('/FontMatrix', matrix.index + 1) >= 0) return undefined;
  const at = start + 5 + (/^[ \t\r\n]+/.exec(text.slice(start + 5, start + 10))?.[0].length ?? 0);
  const packed = file.subarray(at);
  const isHex = /^[0-9a-fA-F\s]{8}/.test(packed.toString('latin1', 0, 8));
  const bytes = decrypted(
    isHex ? Buffer.from(packed.toString('latin1').replace(/\s/g, ''), 'hex') : packed,
    FILE_KEY,
    4,
  );
  const body = bytes.toString('latin1');
  const skipped = Number(/\/lenIV\s+(\d+)/.exec(body)?.[1] ?? 4);
  const parts = (pattern: RegExp, from: number): ReadonlyMap<string, Buffer> | undefined => {
    const found = new Map<string, Buffer>();
    pattern.lastIndex = from;
    for (let one = pattern.exec(body); one !== null; one = pattern.exec(body)) {
      const [all, name = '', length = '0'] = one;
      const data = one.index + all.length;
      if (found.has(name) || found.size > MAX_GLYPHS) return undefined;
      found.set(name, decrypted(bytes.subarray(data, data + Number(length)), GLYPH_KEY, skipped));
      pattern.lastIndex = data + Number(length);
    }
    return found;
  };
  const own = body.indexOf('/CharStrings');
  const other = body.indexOf('/Subrs');
  const glyphs =
    own < 0 ? undefined : parts(/\/([^\s/{}[\]()<>%]+)\s+(\d{1,5})\s+(?:RD|-\||\S{1,8}) /g, own + 12);
  const routines =
    other < 0
      ? new Map<string, Buffer>()
      : parts(/\bdup\s+(\d{1,5})\s+(\d{1,5})\s+(?:RD|-\||\S{1,8}) /g, other);
  if (glyphs === undefined || glyphs.size === 0 || routines === undefined) return undefined;
  const known = new Map<string, Ink | undefined>();
  const names = [...glyphs.keys()];
  const work = { steps: MAX_STEPS };
  let simple: { readonly ink: Ink | undefined } | undefined;
  const plain = (): Ink | undefined => {
    simple ??= { ink: together(names.flatMap((name) => inkOf(name))) };
    return simple.ink;
  };
  /** Of a glyph that is not made of others; none for the rest. */
  const inkOf = (name: string): readonly (Ink | undefined)[] => {
    const reader = new GlyphReader(glyphs, routines, work);
    const ink = reader.ink(name);
    return reader.accentAt === undefined ? [ink] : [];
  };
  const measured = (name: string): Ink | undefined => {
    if (!known.has(name)) known.set(name, new GlyphReader(glyphs, routines, work).ink(name, plain));
    return known.get(name);
  };
  const named = (key: string): Ink | undefined => {
    const [name, ...more] = names.filter((one) => glyphKey(one) === key);
    return name === undefined || more.length > 0 ? undefined : measured(name);
  };
  const codes = new Map(
    [...text.slice(0, start).matchAll(/\bdup\s+(\d{1,3})\s*\/(\S+)\s+put\b/g)].map(([, code, name = '']) => [
      Number(code),
      name,
    ]),
  );
  const isStandard = /\/Encoding\s+StandardEncoding\b/.test(text.slice(0, start));
  return {
    numbered: () => undefined,
    named,
    coded: (code, character) => {
      const name = codes.get(code);
      if (isStandard) return character === undefined ? undefined : named(character);
      return name === undefined || !glyphs.has(name) ? undefined : measured(name);
    },
    whole: () => together(names.map((name) => measured(name))),
  };
}

function decrypted(packed: Buffer, key: number, skipped: number): Buffer {
  const plain = Buffer.alloc(packed.length);
  let state = key;
  for (const [index, byte] of packed.entries()) {
    plain[index] = byte ^ (state >> 8);
    state = ((byte + state) * 52_845 + 22_719) & 0xffff;
  }
  return plain.subarray(skipped);
}

/** Interprets the charstring of one glyph, and collects its points (Adobe Type 1 Font Format, chapter 6). */
class GlyphReader {
  readonly #glyphs: ReadonlyMap<string, Buffer>;
  readonly #routines: ReadonlyMap<string, Buffer>;
  readonly #points: [number, number][] = [];
  #stack: number[] = [];
  #pushed: number[] = [];
  #x = 0;
  #y = 0;
  readonly #work: { steps: number };
  #isKnown = true;
  #hasInk = false;
  /** Place of the accent of a letter that is made of two other glyphs. */
  accentAt: readonly [number, number] | undefined;

  constructor(
    glyphs: ReadonlyMap<string, Buffer>,
    routines: ReadonlyMap<string, Buffer>,
    work: { steps: number },
  ) {
    this.#work = work;
    this.#glyphs = glyphs;
    this.#routines = routines;
  }

  /** @param parts extent of all glyphs that a letter with an accent may consist of */
  ink(name: string, parts: () => Ink | undefined = () => 'blank'): Ink | undefined {
    const code = this.#glyphs.get(name);
    if (code === undefined) return undefined;
    this.#run(code, 0);
    if (!this.#isKnown) return undefined;
    if (this.accentAt !== undefined) {
      const [dx, dy] = this.accentAt;
      const part = parts();
      if (part === undefined || part === 'blank') return part;
      const { left, bottom, right, top } = part;
      return together([part, { left: left + dx, bottom: bottom + dy, right: right + dx, top: top + dy }]);
    }
    return this.#hasInk ? inkAround(this.#points.map(([x, y]) => [x / 1000, y / 1000])) : 'blank';
  }

  #line(dx: number, dy: number, isMove = false): void {
    this.#x += dx;
    this.#y += dy;
    this.#hasInk ||= !isMove;
    this.#points.push([this.#x, this.#y]);
  }

  #run(bytes: Buffer, depth: number): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (--this.#work.steps < 0 || depth > MAX_CALLS) this.#isKnown = false;
      if (!this.#isKnown) return false;
      const byte = bytes.readUInt8(at++);
      const more = at < bytes.length ? bytes.readUInt8(at) : 0;
      if (byte === 255) {
        if (at + 4 > bytes.length) this.#isKnown = false;
        else this.#stack.push(bytes.readInt32BE(at));
        at += 4;
      } else if (byte >= 32) {
        if (byte <= 246) this.#stack.push(byte - 139);
        else
          this.#stack.push(byte <= 250 ? (byte - 247) * 256 + more + 108 : -(byte - 251) * 256 - more - 108);
        if (byte > 246) at++;
      } else if (byte === 10) {
        const routine = this.#routines.get(String(this.#stack.pop()));
        if (routine === undefined) this.#isKnown = false;
        else if (!this.#run(routine, depth + 1)) return false;
      } else if (byte === 11) return true;
      else if (byte === 14) return false;
      else if (byte === 12) {
        at++;
        this.#escape(more);
      } else this.#draw(byte);
    }
    return true;
  }

  #draw(operator: number): void {
    const n = (index: number): number => this.#stack[index] ?? 0;
    if (operator === 5) this.#line(n(0), n(1));
    else if (operator === 6) this.#line(n(0), 0);
    else if (operator === 7) this.#line(0, n(0));
    else if (operator === 8) this.#curve(n(0), n(1), n(2), n(3), n(4), n(5));
    else if (operator === 30) this.#curve(0, n(0), n(1), n(2), n(3), 0);
    else if (operator === 31) this.#curve(n(0), 0, n(1), n(2), 0, n(3));
    else if (operator === 21) this.#line(n(0), n(1), true);
    else if (operator === 22) this.#line(n(0), 0, true);
    else if (operator === 4) this.#line(0, n(0), true);
    else if (operator === 13) this.#x = n(0);
    else if (operator !== 1 && operator !== 3 && operator !== 9) this.#isKnown = false;
    this.#stack = [];
  }

  #curve(...steps: readonly [number, number, number, number, number, number]): void {
    for (let index = 0; index < 6; index += 2) this.#line(steps[index] ?? 0, steps[index + 1] ?? 0);
  }

  #escape(operator: number): void {
    const stack = this.#stack;
    if (operator === 12) {
      const divisor = stack.pop() ?? 1;
      const value = stack.pop() ?? 0;
      stack.push(value / divisor);
    } else if (operator === 16) {
      const routine = stack.pop() ?? 0;
      const count = stack.pop() ?? 0;
      const given = count > 0 ? stack.splice(-count) : [];
      // 3: hints; 0 to 2: a flat curve, whose points are moves of the current point. Others are not interpreted.
      if (routine > 3 || routine < 0) this.#isKnown = false;
      this.#pushed = routine === 3 ? given.slice(0, 1) : routine === 0 ? [given[2] ?? 0, given[1] ?? 0] : [];
      this.#hasInk ||= routine < 3;
    } else if (operator === 17) stack.push(this.#pushed.pop() ?? 0);
    else {
      const [first = 0, second = 0, third = 0] = stack;
      if (operator === 6) this.accentAt = [(this.#x + second - first) / 1000, third / 1000];
      else if (operator === 7) {
        this.#x = first;
        this.#y = second;
      }
      // 33 sets the point where a flat curve has ended; 0 to 2 are hints; the rest is not interpreted.
      else if (operator !== 33 && operator > 2) this.#isKnown = false;
      this.#stack = [];
    }
  }
}
