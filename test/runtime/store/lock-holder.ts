/** Opens the store named on the command line, says so, and stays until it is killed. */
import { openLmdbStore } from '@sealwright/runtime/lmdb';

const folder = process.argv[2] ?? '';
let said = 'open';
try {
  openLmdbStore({ folder });
} catch (error) {
  said = String((error as { code?: unknown }).code);
}
console.log(said);
process.stdin.resume();
if (said !== 'open') process.exit(0);
