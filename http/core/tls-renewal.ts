/** Takes up a renewed certificate of https: its files are read again every minute. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock, Log } from '@sealwright/runtime';
import type { PortOptions } from './transport/port.ts';

const INTERVAL_MS = 60_000;

export interface TlsRenewalOptions {
  readonly files: NonNullable<PortOptions['tls']>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** Serves further connections with the files; throws when they cannot be used. */
  renew(): void;
}

/** Resolves, once the files are read, with what ends it: await it before they are used for the first time. */
export async function watchTlsFiles({ files, clock, log, renew }: TlsRenewalOptions): Promise<() => void> {
  /** A digest, or why there is none. */
  let seen = await contentOf(files).then(({ digest }) => digest, reasonOf);
  /** Each reason is told once. */
  let told: string | undefined = seen;
  let isEnded = false;
  let cancel = () => {};
  const look = async (): Promise<void> => {
    try {
      const { digest, key, cert } = await contentOf(files);
      if (isEnded || digest === seen) return;
      // Refuses a key of another certificate, before the present one is given up.
      createSecureContext({ key, cert });
      // Not seen before that: a port that cannot be opened now, as without free descriptors, is opened a minute later.
      renew();
      seen = digest;
      told = undefined;
      log.info('The certificate of https was renewed.', { Path: files.certificatePath });
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === told) return;
      told = reason;
      log.warn('The new certificate of https cannot be used; connections get the one before.', {
        Path: files.certificatePath,
        Reason: reason,
      });
    }
  };
  const plan = () => {
    cancel = clock.after(INTERVAL_MS, () => void look().then(() => isEnded || plan()));
  };
  plan();
  return () => {
    isEnded = true;
    cancel();
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function contentOf({ keyPath, certificatePath }: TlsRenewalOptions['files']) {
  const [key, cert] = await Promise.all([readFile(keyPath), readFile(certificatePath)]);
  return { key, cert, digest: createHash('sha256').update(key).update('\0').update(cert).digest('hex') };
}
