import { execFileSync } from 'node:child_process';
import { openSync, statSync, writeSync } from 'node:fs';
import test from 'ava';
import { bytes, facts, failures, file } from './cades-harness.ts';

/** Runs a script in a process of its own, which prints one line of JSON. */
function inProcess(script: string): unknown {
  const url = (path: string) => JSON.stringify(import.meta.resolve(path));
  const imports = `
    import { signCadesAtLevel } from ${url('#crypto/cades/sign.js')};
    import { augmentCades } from ${url('#crypto/cades/augment.js')};
    import { addCadesSigner } from ${url('#crypto/cades/add-signer.js')};
    import { startAuthority } from ${url('../../pki/authority.js')};`;
  // A small nursery: what is measured is what is kept, not what waits to be collected.
  const args = ['--max-semi-space-size=1', '--input-type=module', '-e', `${imports} ${script}`];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 }));
}

/** Mebibytes. */
const CONTENT = 80;

// Mebibytes; either way less than the signed file alone, of which pem has a third more. What the collector has not yet
// freed varies by tens of mebibytes from run to run and does not grow with the content.
for (const [armor, most] of [
  ['der', 60],
  ['pem', 95],
] as const) {
  test(`a large file in ${armor} is signed at LTA, augmented and signed by another in bounded memory`, (t) => {
    const input = file();
    const piece = bytes(1 << 20);
    const fd = openSync(input, 'w');
    for (let megabyte = 0; megabyte < CONTENT; megabyte++) {
      piece.writeUInt32BE(megabyte, 0);
      writeSync(fd, piece);
    }
    const inputs = [file(bytes(100)), input];
    const outputs = inputs.map(() => [file(), file(), file()]);
    const peaks = inProcess(`
      const authority = await startAuthority();
      // The authority shares this process, and can't answer while it hashes.
      const services = authority.freshServices({ retries: 3 });
      const signer = authority.pki.signer('p-256');
      const [inputs, outputs] = ${JSON.stringify([inputs, outputs])};
      const peaks = [];
      for (const [index, input] of inputs.entries()) {
        const [signed, augmented, added] = outputs[index];
        const at = Date.now();
        const cades = { armor: ${JSON.stringify(armor)} };
        const format = 'Cades';
        await signCadesAtLevel({ format, input, output: signed, signer, at, level: 'LTA', cades }, services);
        await augmentCades({ format, input: signed, output: augmented, at, to: 'LTA' }, services);
        addCadesSigner({ input: augmented, output: added, signer: authority.pki.signer('p-384'), at });
        peaks.push(process.resourceUsage().maxRSS);
      }
      await authority.close();
      console.log(JSON.stringify(peaks));`) as [number, number];
    t.true(peaks[1] - peaks[0] < most << 10, `${(peaks[1] - peaks[0]) >> 10} MiB more`);
    t.log(`${(peaks[1] - peaks[0]) >> 10} MiB more than for a small file`);
    for (const path of outputs[1] ?? []) {
      t.true(statSync(path).size > CONTENT << 20);
      t.deepEqual(failures(facts(path)), []);
    }
  });
}
