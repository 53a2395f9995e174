/** Addresses that read one object without credentials, signed by the signer of the client. */
import type { S3Client } from '@aws-sdk/client-s3';

type Query = Readonly<Record<string, string>>;

/** Ability of the signer that the types of the client leave out. */
interface Presigner {
  presign(
    request: {
      readonly method: 'GET';
      readonly protocol: string;
      readonly hostname: string;
      readonly path: string;
      readonly query: Query;
      readonly headers: Query;
    },
    options: { readonly expiresIn: number; readonly signingDate: Date },
  ): Promise<{ readonly query?: Query }>;
}

export interface LinkRequest {
  /** Of the bucket. */
  readonly bucket: URL;
  readonly key: string;
  /** Time of this machine, milliseconds since the epoch. */
  readonly at: number;
  readonly seconds: number;
  /** Headers of the answer, as parameters of the request. */
  readonly query: Query;
}

export async function presignedLink(
  { config }: S3Client,
  { bucket, key, at, seconds, query }: LinkRequest,
): Promise<string> {
  const signer: object = await config.signer();
  const { protocol, hostname, host } = bucket;
  const path = `${bucket.pathname.replace(/\/$/, '')}/${key.split('/').map(encoded).join('/')}`;
  const headers = { host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
  // The client has learned by how much the clock of the server differs.
  const signingDate = new Date(at + config.systemClockOffset);
  const signed = await (signer as Presigner).presign(
    { method: 'GET', protocol, hostname, path, query, headers },
    { expiresIn: seconds, signingDate },
  );
  const parameters = Object.entries(signed.query ?? {}).map(
    ([name, value]) => `${encoded(name)}=${encoded(value)}`,
  );
  return `${bucket.origin}${path}?${parameters.join('&')}`;
}

/** As the signature needs it: more characters than `encodeURIComponent` encodes. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
