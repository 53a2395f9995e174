/** Minimal server with the same library: equal bodies, without checks, lookups and storage. */
import { loadUws } from '../../http/index.ts';

export interface BareAnswers {
  /** Body by path, for GET. */
  readonly bodies: { readonly [path: string]: string };
  /** Body of the response to any POST, with 202, after the whole request. */
  readonly accepted: string;
}

process.once('disconnect', () => process.exit(0));
process.once('message', (answers) => {
  const { bodies, accepted } = answers as BareAnswers;
  const uws = loadUws();
  const app = uws.App();
  app.any('/*', (response, request) => {
    if (request.getCaseSensitiveMethod() === 'GET') {
      response.writeHeader('content-type', 'application/json').end(bodies[request.getUrl()] ?? '');
      return;
    }
    response.onAborted(() => {});
    response.onData((_piece, isLast) => {
      if (!isLast) return;
      response.cork(() => {
        response.writeStatus('202 Accepted').writeHeader('content-type', 'application/json').end(accepted);
      });
    });
  });
  app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    process.send?.(socket === false ? 0 : uws.us_socket_local_port(socket));
  });
});
