/** Containers whose members are moved, duplicated, renamed, exchanged or replaced, beside the valid ones. */
import { rmSync } from 'node:fs';
import test from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { file, made, REPORT, twoInputs, unpacked, validated } from './container-harness.ts';
import { haveSameData, movedMembers } from './moved-members.ts';

/** One of this many forged containers is validated, of each of the nine kinds; a release validates all. */
const STRIDE = roundsOf(5, 1);

for (const kind of ['S', 'E'] as const) {
  for (const format of ['Cades', 'Xades'] as const) {
    test(`a container passes only with the signed data objects under their names: ${kind}, ${format}`, async (t) => {
      const honest = await made(kind, format);
      const [first, ...rest] = kind === 'S' ? [{ path: '', name: 'report.txt' }] : twoInputs();
      const changed = { path: file(Buffer.from(`${REPORT}And more.\n`)), name: first?.name ?? '' };
      const other = await made(kind, format, { inputs: [changed, ...rest] });
      for (const path of [honest, other]) t.is((await validated(path)).indication, 'TOTAL-PASSED');
      const members = unpacked(honest);
      const areNamesSigned = kind === 'E' || format === 'Xades';
      let generated = 0;
      let count = 0;
      const accepted: string[] = [];
      for (const { bytes, description, data } of movedMembers(members, unpacked(other))) {
        if (count++ % STRIDE !== 0) continue;
        generated++;
        const path = file(bytes, 'asice');
        const report = await validated(path);
        rmSync(path);
        const isSame = haveSameData(members, data, areNamesSigned);
        if (report.indication === 'TOTAL-PASSED' && !isSame) accepted.push(description);
      }
      t.log(`false accepts ${accepted.length} of ${generated} generated`);
      t.true(generated > 0);
      t.deepEqual(accepted.slice(0, 10), []);
    });
  }
}
