/** Cases for `npm test` and the check of a change, and with them the others for `SEALWRIGHT_TESTS=release`. */
export function casesOf<const Case, const Other>(
  check: readonly Case[],
  others: readonly Other[],
): readonly (Case | Other)[] {
  return process.env.SEALWRIGHT_TESTS === 'release' ? [...check, ...others] : check;
}

/**
 * Number of repetitions for the tests that were asked for.
 * @param quick for `npm test`
 * @param all for `SEALWRIGHT_TESTS=all`, as in the check of a change
 * @param release for `SEALWRIGHT_TESTS=release`
 */
export function roundsOf(quick: number, all: number, release: number): number {
  const wanted = process.env.SEALWRIGHT_TESTS;
  if (wanted === 'release') return release;
  return wanted === 'all' ? all : quick;
}
