/** A pool thread in small: makes values with the signer it was given, and sends them back. */
import { parentPort, workerData } from 'node:worker_threads';
import { deserializeSigner, type SerializedSigner } from '#crypto/keys/transfer.js';
import { algorithmOf } from '#crypto/x509/signature-algorithms.js';

const { signer: data, texts } = workerData as {
  readonly signer: SerializedSigner;
  readonly texts: readonly string[];
};
const signer = deserializeSigner(data);

parentPort?.postMessage(
  texts.map((text) => {
    try {
      return signer.key.sign(Buffer.from(text), algorithmOf(signer, {})).toString('base64');
    } catch (error) {
      return `${(error as { code?: string }).code}: ${String(error)}`;
    }
  }),
);
