/** Connections to https addresses through an HTTP proxy (RFC 9110 §9.3.6, CONNECT): the proxy sees the host, nothing of the content. */
import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';

/** Longest time in which the proxy connects, milliseconds. */
const CONNECT_MS = 10_000;

/** A proxy that does not connect. */
class ProxyRefused extends Error {
  readonly code: string;
  constructor(status: number) {
    super(`The proxy answers with HTTP status ${status}.`);
    this.name = 'ProxyRefused';
    this.code = `HTTP status ${status} of the proxy`;
  }
}

/**
 * An agent whose connections are tunnels, kept as those of any agent. Names are resolved by the proxy.
 * @param proxy http or https URL, with user and password where the proxy wants them
 */
export function tunnelAgent(proxy: URL, settings: AgentOptions): HttpsAgent {
  const agent = new HttpsAgent(settings);
  agent.createConnection = (options, done) => {
    const { host = '', port, servername = host } = options as ConnectionOptions & RequestOptions;
    const asked = askFor(proxy, `${host.includes(':') ? `[${host}]` : host}:${port}`);
    const end = (error: Error) => done?.(error, asked.socket ?? new Socket());
    asked.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode === 200) {
        done?.(null, connect({ ...(options as ConnectionOptions), host, servername, socket }));
        return;
      }
      socket.destroy();
      end(new ProxyRefused(statusCode));
    });
    asked.once('response', ({ statusCode = 0 }) => end(new ProxyRefused(statusCode)));
    asked.once('timeout', () => asked.destroy(new ProxyRefused(504)));
    asked.once('error', end);
    asked.end();
    return undefined;
  };
  return agent;
}

function askFor(proxy: URL, target: string): ClientRequest {
  const { username, password, hostname, port, protocol } = proxy;
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const isSecure = protocol === 'https:';
  return (isSecure ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : port,
    path: target,
    headers: {
      host: target,
      ...(user !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
    },
    agent: false,
    timeout: CONNECT_MS,
  });
}
