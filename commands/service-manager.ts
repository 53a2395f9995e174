/**
 * Notifies systemd of the state of the service (sd_notify(3)). Node cannot send datagrams on Unix sockets
 * (https://github.com/nodejs/node/issues/29339), so the program `systemd-notify` sends them. Does nothing without NOTIFY_SOCKET.
 *
 * Source: docs/batch-values.md §13: ready only after the banner.
 */
import { execFile } from 'node:child_process';
import type { Log } from '@sealwright/runtime';

export type ServiceNotification = 'READY=1' | 'STOPPING=1';

/** @param env `NOTIFY_SOCKET` and `PATH` are read */
export function serviceManager(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Log, 'warn'>,
): (news: ServiceNotification) => void {
  const { NOTIFY_SOCKET: socket, PATH: path = '' } = env;
  if (socket === undefined || socket === '') return () => {};
  return (news) => {
    execFile('systemd-notify', [news], { env: { NOTIFY_SOCKET: socket, PATH: path } }, (error) => {
      if (error)
        log.warn('The state of the service could not be reported to systemd.', {
          News: news,
          Because: error.code ?? error.message,
        });
    });
  };
}
