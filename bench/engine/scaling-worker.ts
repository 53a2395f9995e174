/** Thread that signs as fast as possible on request and is idle otherwise. */
import { sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { deserializeSigner, type SerializedSigner, signFile } from '@sealwright/signatures';
import { noise, samplePdf } from '../samples.ts';

export interface ScalingSetup {
  readonly signer: SerializedSigner;
  readonly folder: string;
}

export interface ScalingOrder {
  /** The key operation alone, or a PDF of 28 KB from file to file. */
  readonly work: 'crypto.sign' | 'pdf';
  readonly seconds: number;
  /** Name of this run, for file names. */
  readonly name: string;
}

export interface ScalingResult {
  readonly calls: number;
  readonly perSecond: number;
  /** Paths of outputs, which the caller verifies and removes. */
  readonly outputs: readonly string[];
}

const { signer: serialized, folder } = workerData as ScalingSetup;
const signer = deserializeSigner(serialized);
const data = noise(200, 'attributes');
const pdf = samplePdf();

parentPort?.on('message', ({ work, seconds, name }: ScalingOrder) => {
  const input = join(folder, `${name}.pdf`);
  writeFileSync(input, pdf);
  const outputs: string[] = [];
  const once = (): void => {
    if (work === 'crypto.sign') {
      if (signer.key.where === 'memory') sign('sha256', data, signer.key.keyObject);
      return;
    }
    const output = `${input}.${outputs.length}`;
    signFile({ format: 'Pades', input, output, signer, at: Date.now(), sync: false });
    outputs.push(output);
  };
  let calls = 0;
  const from = performance.now();
  const until = from + seconds * 1000;
  while (performance.now() < until) {
    once();
    calls += 1;
  }
  const perSecond = (calls / (performance.now() - from)) * 1000;
  parentPort?.postMessage({ calls, perSecond, outputs } satisfies ScalingResult);
});
