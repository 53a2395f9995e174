/** Cases for `npm test` and the check of a change, and with them the others for `SEALWRIGHT_TESTS=release`. */
export function casesOf<const Case, const Other>(
  check: readonly Case[],
  others: readonly Other[],
): readonly (Case | Other)[] {
  return process.env.SEALWRIGHT_TESTS === 'release' ? [...check, ...others] : check;
}

/** Number of repetitions for `npm test` and the check of a change, or for `SEALWRIGHT_TESTS=release`. */
export function roundsOf(check: number, release: number): number {
  return process.env.SEALWRIGHT_TESTS === 'release' ? release : check;
}
