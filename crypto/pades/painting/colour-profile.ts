/**
 * Profiles of colours (ICC.1:2022) whose numbers mean about the same lightness as those of the device spaces: matrices
 * and curves of monitors. One with tables can turn white into black.
 */

const HEADER = 128;
const MAX_TAGS = 100;
const FIXED = 65_536;

/** @param components 1 or 3 */
export function isUsualProfile(profile: Buffer, components: 1 | 3): boolean {
  if (profile.length < HEADER + 4 || profile.toString('latin1', 36, 40) !== 'acsp') return false;
  if (profile.toString('latin1', 16, 20) !== (components === 1 ? 'GRAY' : 'RGB ')) return false;
  const tags = tagsOf(profile);
  if (tags === undefined || [...tags.keys()].some((name) => /^[ABD]2[ABD]\d$/.test(name))) return false;
  if (components === 1) return isUsualCurve(tags.get('kTRC'));
  const curves = ['rTRC', 'gTRC', 'bTRC'].map((name) => tags.get(name));
  const luminances = ['rXYZ', 'gXYZ', 'bXYZ'].map((name) => {
    const tag = tags.get(name);
    return tag !== undefined && tag.length >= 20 ? tag.readInt32BE(12) / FIXED : undefined;
  });
  return curves.every(isUsualCurve) && isUsualLuminance(luminances);
}

function tagsOf(profile: Buffer): ReadonlyMap<string, Buffer> | undefined {
  const count = profile.readUInt32BE(HEADER);
  if (count > MAX_TAGS || profile.length < HEADER + 4 + 12 * count) return undefined;
  const tags = new Map<string, Buffer>();
  for (let at = HEADER + 4; at < HEADER + 4 + 12 * count; at += 12) {
    const name = profile.toString('latin1', at, at + 4);
    const from = profile.readUInt32BE(at + 4);
    if (tags.has(name)) return undefined;
    tags.set(name, profile.subarray(from, from + profile.readUInt32BE(at + 8)));
  }
  return tags;
}

/** Parts of the lightness of white that red, green and blue have in the spaces of monitors and cameras. */
const SHARES = [
  { least: 0.15, most: 0.4 },
  { least: 0.5, most: 0.8 },
  { least: 0, most: 0.15 },
];

export function isUsualLuminance(parts: readonly (number | undefined)[]): boolean {
  return SHARES.every(({ least, most }, index) => {
    const part = parts[index] ?? Number.NaN;
    return part >= least && part <= most;
  });
}

/** Largest value of black and least one of white. */
const BLACK = 0.05;
const WHITE = 0.95;

/** True for a curve that rises from black to white, as those of monitors do. */
function isUsualCurve(tag: Buffer | undefined): boolean {
  if (tag === undefined || tag.length < 12) return false;
  const type = tag.toString('latin1', 0, 4);
  if (type === 'para') {
    // The types 1 to 4 differ in the part near black (10.18).
    const gamma = tag.readInt32BE(12) / FIXED;
    const slope = tag.length >= 20 ? tag.readInt32BE(16) / FIXED : 1;
    const isPlain = tag.readUInt16BE(8) === 0;
    return tag.readUInt16BE(8) <= 3 && isGamma(gamma) && (isPlain || (slope >= 0.8 && slope <= 1));
  }
  if (type !== 'curv') return false;
  const count = tag.readUInt32BE(8);
  if (count === 0) return true;
  if (tag.length < 12 + 2 * count) return false;
  if (count === 1) return isGamma(tag.readUInt16BE(12) / 256);
  const values = Array.from({ length: count }, (_, index) => tag.readUInt16BE(12 + 2 * index) / 65_535);
  const isRising = values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
  const middle = values[count >> 1] ?? 0;
  return (
    isRising && (values[0] ?? 1) <= BLACK && (values.at(-1) ?? 0) >= WHITE && middle > 0.08 && middle < 0.75
  );
}

const isGamma = (gamma: number): boolean => gamma >= 1 && gamma <= 3;
