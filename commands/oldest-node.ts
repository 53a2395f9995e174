/** The oldest version of Node that runs the program. Parses on older ones. */

/** `engines` of package.json. */
export const OLDEST_NODE = '20.19';

/** @param version as in `process.versions.node` */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [least = 0, lesser = 0] = OLDEST_NODE.split('.').map(Number);
  return major < least || (major === least && minor < lesser);
}
