/** `sealwright keys service`: named keys of the batch service, through the API of the running service. */
import type { AccessKey, AccessKeys, AccessKeyWithSecret } from '../clients/typescript/batch.d.ts';
import { escapeControls } from '../logging.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findService, type LocalAnswer, localHeaders, NoService, requestLocal } from './local-service.ts';
import { type Terminal, table } from './terminal.ts';

export type AccessKeyArguments =
  | { readonly do: 'list' }
  | { readonly do: 'create'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly do: 'rotate'; readonly name: string; readonly overlapHours: number }
  | { readonly do: 'revoke'; readonly name: string };

/** Exit codes: 0 success, 1 refused, 2 invalid, 3 no service answers. */
export async function accessKeys(
  settings: Settings,
  words: AccessKeyArguments,
  { json }: { json: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  let answer: LocalAnswer;
  try {
    answer = await send(await findService(settings, 'batch'), settings, words);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    const url = error instanceof NoService ? error.url : settings.batch.url.href;
    terminal.err(
      `sealwright keys: no service answers at ${url}: it ${why}. Start it with \`sealwright serve\`.\n`,
    );
    return EXIT.unavailable;
  }
  if (answer.status !== 200) {
    const { title, detail } = JSON.parse(answer.body) as { title?: string; detail?: string };
    terminal.err(`sealwright keys: ${escapeControls(detail ?? title ?? `HTTP status ${answer.status}`)}\n`);
    return answer.status === 400 ? EXIT.refused : EXIT.failed;
  }
  if (json) terminal.out(`${answer.body}\n`);
  else print(words, answer.body, settings, terminal);
  return EXIT.good;
}

function send(url: string, settings: Settings, words: AccessKeyArguments): Promise<LocalAnswer> {
  const headers = { ...localHeaders(settings), 'content-type': 'application/json' };
  if (words.do === 'list') return requestLocal(url, '/api/keys', { headers });
  if (words.do === 'create') {
    const body = Buffer.from(JSON.stringify(words.body));
    return requestLocal(url, '/api/keys', { method: 'POST', headers, body });
  }
  const path = `/api/keys/${encodeURIComponent(words.name)}`;
  if (words.do === 'revoke') return requestLocal(url, `${path}/revoke`, { method: 'POST', headers });
  const body = Buffer.from(JSON.stringify({ overlapHours: words.overlapHours }));
  return requestLocal(url, `${path}/rotate`, { method: 'POST', headers, body });
}

function print(words: AccessKeyArguments, body: string, settings: Settings, terminal: Terminal): void {
  if (words.do === 'list') {
    const rows = (JSON.parse(body) as AccessKeys).items.map(row);
    terminal.out(table(['name', 'scopes', 'only for', 'expires', 'last used'], rows));
  } else if (words.do === 'revoke') terminal.out(`${words.name} is revoked.\n`);
  else {
    const { secret } = JSON.parse(body) as AccessKeyWithSecret;
    terminal.out(`${secret}\nIt is shown this once. Send it as ${settings.auth.apiKeyHeader}.\n`);
  }
}

function row({ name, scopes, profiles, folders, expiresAt, lastUsedAt }: AccessKey): readonly string[] {
  const bounds = [...(profiles ?? []), ...(folders ?? [])].join(', ');
  return [name, scopes.join(', '), bounds || 'everything', expiresAt ?? 'never', lastUsedAt ?? 'never'];
}
