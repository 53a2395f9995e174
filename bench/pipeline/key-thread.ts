/** A transit engine of Vault with one RSA key, for the benchmark of key services: it answers after the time that it is given. */
import { constants, createPrivateKey, createPublicKey, type KeyObject, privateEncrypt } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** RFC 8017 §9.2: what precedes a SHA-256 digest. */
const DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');
const delayMs = workerData as number;
let key: KeyObject | undefined;

parentPort?.on('message', (pem: string) => {
  key = createPrivateKey(pem);
});

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (key === undefined) throw new Error('There is no key.');
  const reply = (data: object) => response.end(JSON.stringify({ data }));
  if (request.method === 'GET') {
    const public_key = createPublicKey(key).export({ format: 'pem', type: 'spki' });
    return reply({ keys: { 1: { public_key } } });
  }
  const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { readonly input: string };
  const [value] = await Promise.all([
    privateEncrypt(
      { key, padding: constants.RSA_PKCS1_PADDING },
      Buffer.concat([DIGEST_INFO, Buffer.from(input, 'base64')]),
    ),
    sleep(delayMs),
  ]);
  return reply({ signature: `vault:v1:${value.toString('base64')}` });
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/transit`);
});
