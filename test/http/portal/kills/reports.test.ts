/** A report that was promised, when the process is killed while it is made. */
import test from 'ava';
import exceljs from 'exceljs';
import { rootsLike, startProgram } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };

/** First cells of all lines but the head. */
async function idsOf(sheet: ArrayBuffer): Promise<readonly string[]> {
  const workbook = new exceljs.Workbook();
  await workbook.xlsx.load(sheet);
  const [, ...rows] = workbook.worksheets[0]?.getSheetValues().slice(1) ?? [];
  return rows.map((row) => String((row as exceljs.CellValue[])[1]));
}

/** Signal that ended the program, also before it was listening. */
function endOf(starting: ReturnType<typeof startProgram>): Promise<unknown> {
  return starting.then(
    ({ service }) => service.ended,
    (error: Error) => /ended with (\w+)/.exec(error.message)?.[1],
  );
}

/** The report is created here; its next step says that it is made. */
const promisedRoot = rootsLike(async (t, root) => {
  const program = await startProgram(t, { root, faults: 'effect.leased.before-run/makeReport=hang:1' });
  const ids = [await program.acme.create([ANA]), await program.acme.create([ANA])];
  const { location } = await program.monitor.post<{ location: string }>('/api/reports/documents/date', {});
  await program.service.kill();
  return { ids, location };
});

for (const point of casesOf(
  ['portal.report.written'],
  [
    'step.committed.before-reply/report',
    'effect.leased.before-run/makeReport',
    'step.computed.before-commit/report',
  ],
))
  test.serial(
    `a kill at ${point} leaves the promised report complete, with each document once`,
    async (t) => {
      const { root, ids, location } = await promisedRoot(t);
      t.is(await endOf(startProgram(t, { root, faults: `${point}=kill:1` })), 'SIGKILL');

      const { monitor } = await startProgram(t, { root });
      for (let count = 0; count < 2; count += 1) {
        const answer = await monitor.fetch(location);
        t.is(answer.status, 200);
        t.deepEqual([...(await idsOf(await answer.arrayBuffer()))].sort(), [...ids].sort());
      }
    },
  );
