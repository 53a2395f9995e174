/** Everything `npm ci` installs is what was looked at: every package of the lock file has a checksum. */
import { readFileSync } from 'node:fs';
import test from 'ava';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
}

/**
 * Binaries for other systems whose checksum the registry that this project is built with does not have. Each is optional
 * and never installed where it is missing. The list only gets shorter: `scripts/complete-lock.mjs --checksums`.
 */
const WITHOUT = /^@uwsjs\/(?:darwin|linux-arm|win32)[\w-]*$/;
const MAX_WITHOUT = 32;

test('every package of the lock file has a checksum, except for binaries of other systems', (t) => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: { readonly [path: string]: Locked };
  };
  const bare = Object.entries(lock.packages).filter(
    // The other paths are the project and its workspaces.
    ([path, { link, integrity }]) =>
      path.includes('node_modules/') && link !== true && integrity === undefined,
  );
  for (const [path, { optional, os }] of bare) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    t.true(WITHOUT.test(name) && optional === true && os !== undefined, `${path} has no integrity`);
  }
  t.true(bare.length <= MAX_WITHOUT, `${bare.length} packages have no integrity`);
  const strong = Object.entries(lock.packages).filter(
    ([, { integrity }]) => integrity !== undefined && !integrity.startsWith('sha512-'),
  );
  t.deepEqual(
    strong.map(([path]) => path),
    [],
  );
});
