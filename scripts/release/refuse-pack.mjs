/** Ends `npm pack` and `npm publish` of the repository: its tarball would lack the packages, and have what only developers need. */
console.error(
  'sealwright: This folder is not packed as it is. "npm run release" makes the tarballs of a release (CONTRIBUTING.md, Releases).',
);
process.exitCode = 1;
