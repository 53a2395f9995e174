/** The address that participants open: it leads to this service, through a proxy that the service understands. */
import { readServiceFile } from '../../service/service-file.ts';
import type { Settings } from '../../settings.ts';
import { requestLocal } from '../local-service.ts';
import { bad, type Finding, good } from './finding.ts';

const NAME = 'portal:public-url';

/** No finding while the service does not run, or without `Portal:PublicUrl`. */
export async function checkPublicUrl(settings: Settings): Promise<readonly Finding[]> {
  const { enabled, publicUrl } = settings.portal;
  const running = readServiceFile(settings);
  if (!enabled || publicUrl === undefined || running === undefined) return [];
  const path = `${new URL(publicUrl).pathname.replace(/\/$/, '')}/api/health`;
  const answer = await requestLocal(publicUrl, path).catch((error: Error) => error.message);
  if (typeof answer === 'string')
    return [
      bad('warning', NAME, {
        says: `${publicUrl} does not answer this machine: ${answer}.`,
        cause: 'The address is wrong, the proxy is down, or only other networks reach it.',
        remedy:
          'Open it from outside. If nothing answers there either, correct Portal:PublicUrl or the proxy.',
      }),
    ];
  if (answer.status === 505)
    return [
      bad('failed', NAME, {
        says: `The proxy at ${publicUrl} speaks HTTP/1.0 to the service, which answers 505.`,
        cause: 'HTTP/1.0 is the default of nginx before 1.29.7 for its upstreams.',
        remedy: 'Set "proxy_http_version 1.1;" in the location of the proxy, for both services.',
      }),
    ];
  if (answer.runId === running.runId) return [good(NAME, `${publicUrl} leads to this service.`)];
  return [
    bad('warning', NAME, {
      says: `${publicUrl} answers with status ${answer.status}, and not as this service.`,
      cause:
        'It leads to another program or node, or the proxy has another path or removes the header X-Run-Id.',
      remedy: 'Check the target and the path of the proxy: it removes the path of Portal:PublicUrl.',
    }),
  ];
}
