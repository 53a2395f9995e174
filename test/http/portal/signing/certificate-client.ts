/** A participant's own client over HTTP: starts and completes certificate signatures. */

import type { Client } from '../../../actors/portal/service.ts';
import { issueCertificate } from '../../../pki/issuing.ts';
import { keyOf, type TestSigner, testSigner } from '../../../pki/pki.ts';

export interface Started {
  readonly success: boolean;
  readonly token: string;
  readonly toSignHash: string;
  readonly toSign: string;
  readonly validationResults: ResultsBody;
}

export interface ResultsBody {
  readonly isValid: boolean;
  readonly errors: readonly { readonly type: string; readonly message: string }[];
  readonly warnings: readonly { readonly type: string; readonly message: string }[];
}

export interface SignerBody {
  readonly subjectName: string;
  readonly isElectronic: boolean;
  readonly validationResults: ResultsBody;
  readonly evidences: unknown;
}

/** A certificate that no root vouches for. */
export function selfSigned(commonName: string): TestSigner {
  const { publicKey, privateKey } = keyOf('p-256');
  const certificate = issueCertificate({
    subject: { country: 'XX', commonName },
    issuer: { country: 'XX', commonName },
    publicKey,
    issuerKey: privateKey,
    serial: Buffer.from(commonName, 'latin1').subarray(0, 20),
    notBefore: Date.now() - 86_400_000,
    notAfter: Date.now() + 86_400_000,
    use: { kind: 'signer', purposes: ['1.3.6.1.5.5.7.3.4'] },
  });
  return testSigner(privateKey, certificate, []);
}

/** Key of the document and ticket of a participant. */
export async function ticketOf(client: Client, id: string, emailAddress: string) {
  const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, { emailAddress });
  const [, key = '', ticket = ''] = /\/key\/([^/]+)\/.*\?ticket=(.*)$/.exec(url) ?? [];
  return { key, ticket };
}

/** Starts a certificate signature with the ticket of a participant. */
export async function startSignature(client: Client, id: string, emailAddress: string, own: TestSigner) {
  const { key, ticket } = await ticketOf(client, id, emailAddress);
  const certificate = own.certificate.toString('base64');
  const path = `/api/documents/keys/${key}/signature`;
  const started = await client.post<Started>(`${path}/certificate`, { ticket, certificate });
  return { started, path, key };
}

/** The signature value over what a start or a completion gave to sign. */
export function signatureValue(own: TestSigner, { toSign }: Pick<Started, 'toSign'>): string {
  const scheme = own.keyType === 'rsa' ? 'rsa-pkcs1' : 'ecdsa';
  return own.key.sign(Buffer.from(toSign, 'base64'), { scheme, digest: 'sha256' }).toString('base64');
}
