/** Checks of the numbers that options of a program hold. */

/** Whole numbers that an option may have; `most` itself also where it is Infinity. */
type Bounds = readonly [least: number, most?: number];

/** Returns what is wrong with the first option outside its bounds; one that is absent has a default. */
export function numberProblem(
  options: object | undefined,
  bounds: { readonly [name: string]: Bounds },
  prefix = '',
): string | undefined {
  for (const [name, [least, most = Number.MAX_SAFE_INTEGER]] of Object.entries(bounds)) {
    const value = (options as { readonly [name: string]: unknown } | undefined)?.[name];
    if (value === undefined || value === most) continue;
    if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) continue;
    const range = most < Number.MAX_SAFE_INTEGER ? `from ${least} to ${most}` : `of at least ${least}`;
    return `\`${prefix}${name}\` is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}, not a whole number ${range}.`;
  }
  return undefined;
}
