/**
 * Tells systemd how far the service is. The protocol is a datagram on a Unix socket, which Node cannot send; the
 * program that comes with systemd can. Without NOTIFY_SOCKET nobody wants to know.
 *
 * Source: batch-gaps §13, "systemd": ready only after the banner.
 */
import { execFile } from 'node:child_process';
import type { Log } from '../runtime/index.ts';

export type ServiceNews = 'READY=1' | 'STOPPING=1';

/** @param env `NOTIFY_SOCKET` and `PATH` are read */
export function serviceManager(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Log, 'warn'>,
): (news: ServiceNews) => void {
  const { NOTIFY_SOCKET: socket, PATH: path = '' } = env;
  if (socket === undefined || socket === '') return () => {};
  return (news) => {
    execFile('systemd-notify', [news], { env: { NOTIFY_SOCKET: socket, PATH: path } }, (error) => {
      if (error)
        log.warn('systemd could not be told how far the service is.', {
          News: news,
          Because: error.code ?? error.message,
        });
    });
  };
}
