/** Targets for ASiC containers. */

import { signAsic } from '#crypto/asic/sign.js';
import { inspectAsic } from '#crypto/asic/validate.js';
import { contentsOf, type FuzzEnvironment, memorySource, NOW } from './environment.ts';
import { memberMutation, zipMutation } from './mutate/chunks.ts';
import { oneOf, several } from './mutate/mutation.ts';
import { outcomeOf, reportOn } from './outcome.ts';
import { BrokenPromise, type Target } from './target.ts';

const REPORT = Buffer.from('Fifty barrels, to be paid on delivery.\n');

/** A container passes only with the files that were signed in it. */
export async function containersOfFiles(environment: FuzzEnvironment): Promise<Target> {
  const signer = environment.pki.signer('p-256');
  const seeds: Buffer[] = [];
  for (const kind of ['S', 'E'] as const) {
    for (const format of ['Xades', 'Cades'] as const) {
      for (const level of ['B', 'LTA'] as const) {
        const inputs = [{ path: environment.path(REPORT), name: 'report.txt' }];
        if (kind === 'E') inputs.push({ path: environment.path(Buffer.from('two')), name: 'folder/two.bin' });
        const output = environment.path();
        await signAsic(
          { kind, format, inputs, output, signer, at: NOW, level, sync: false },
          environment.services,
        );
        seeds.push(contentsOf(output));
      }
    }
  }
  return {
    name: 'asic',
    seeds,
    mutation: several(oneOf([zipMutation, memberMutation, memberMutation, memberMutation])),
    run(input) {
      const report = reportOn(environment, 'Asic', inspectAsic(memorySource(input)));
      if (report.indication === 'TOTAL-PASSED' && !input.includes(REPORT)) {
        throw new BrokenPromise('a container passes whose file nobody signed');
      }
      return outcomeOf(report);
    },
  };
}
