/**
 * What a person sees when the service is ready.
 *
 * Source: docs/operations.md; docs/batch-values.md §13.
 */
import { escapeControls } from '../logging.ts';
import type { ServiceInfo } from '../service/running-service.ts';

/** Content of the banner. Paths are shown relative to `cwd` where that is shorter. */
export interface BannerInfo extends ServiceInfo {
  readonly version: string;
  readonly environment: string;
  readonly cwd: string;
  readonly inputs: readonly { readonly name: string; readonly path: string }[];
  readonly apiKeyHeader: string;
  readonly encryption: boolean;
  readonly maxConcurrency: number;
  readonly pollIntervalSeconds: number;
  /** Logs a person in to the operator pages once. Undefined: not on a terminal, or without these pages. */
  readonly loginLink?: string | undefined;
  /** Signs the first administrator of the portal in once. Undefined: not on a terminal, or with a relay. */
  readonly administratorLink?: string | undefined;
}

export interface BannerStyle {
  /** ANSI colours; false gives plain text. */
  readonly colors: boolean;
}

type Paint = (text: string) => string;

/** The banner, with its line ends. Pure. */
export function banner(facts: BannerInfo, style: BannerStyle): string {
  const paint =
    (code: number): Paint =>
    (text) =>
      style.colors ? `\u001b[${code}m${text}\u001b[0m` : text;
  const [bold, dim, yellow] = [paint(1), paint(2), paint(33)];
  const place = (path: string) => shortPath(path, facts.cwd);

  const rows: [string, string][] = [
    ['Batch API', facts.batchUrl ?? 'not served (Batch:Enabled is false)'],
    ['API key', apiKeyText(facts, place)],
    ...portalRows(facts, place),
    ...facts.inputs.map(({ name, path }): [string, string] => [
      `Input folder`,
      `${place(path)}${name === 'default' ? '' : `  (${name})`}`,
    ]),
    ['Output folder', place(facts.output)],
    ['Store', `${facts.store.engine} (${place(facts.store.location)})`],
    ['Certificate', certificateText(facts, place)],
    ...facts.profiles.map((profile): [string, string] => ['Profile', profileText(profile)]),
    ['Encryption', facts.encryption ? 'on' : 'off'],
    [
      'Pipeline',
      `${facts.paused ? 'paused' : 'running'}, ${plural(facts.maxConcurrency, 'job')} at once, queue checked every ${facts.pollIntervalSeconds} s`,
    ],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const warnings = [
    ...(facts.certificate.development
      ? [
          'The signing certificate was made here for development. Nobody else trusts it; set Signing:Certificate for real use.',
        ]
      : []),
    ...facts.warnings,
  ];
  const pages = pagesToOpen(facts);
  const pageWidth = Math.max(...pages.map(([label]) => label.length));
  const commands = commandsToCopy(facts, place);

  const lines = [
    '',
    `${bold(`sealwright ${facts.version}`)}  ${dim(facts.environment)}`,
    '',
    ...rows.map(([label, value]) => `  ${dim(label.padEnd(width))}  ${escapeControls(value)}`),
    ...(warnings.length === 0
      ? []
      : ['', ...warnings.map((text) => `  ${yellow('!')} ${escapeControls(text)}`)]),
    ...(pages.length === 0
      ? []
      : [
          '',
          '  Open in a browser:',
          '',
          ...pages.map(([label, url]) => `    ${dim(label.padEnd(pageWidth))}  ${escapeControls(url)}`),
        ]),
    ...(commands.length === 0
      ? []
      : ['', '  Try it:', '', ...commands.map((command) => `    ${bold(escapeControls(command))}`)]),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function portalRows({ portal }: BannerInfo, place: Paint): [string, string][] {
  if (portal === undefined) return [['Portal', 'not served']];
  const { url, mailFolder, keys } = portal;
  return [
    ['Portal', url],
    ...keys.map((key): [string, string] => ['Portal key', portalKeyText(key, place)]),
    ['E-mail', mailFolder === undefined ? 'through the relay' : `written to ${place(mailFolder)}`],
  ];
}

/** Names and addresses of the pages for people. */
function pagesToOpen({ batchUrl, portal, loginLink, administratorLink }: BannerInfo): [string, string][] {
  const urls = [batchUrl, portal?.url].filter((url) => url !== undefined).map(browserUrl);
  const pages: [string, string][] = [];
  if (batchUrl !== undefined) pages.push(['Operator pages', browserUrl(batchUrl)]);
  if (loginLink !== undefined) pages.push(['One-time login', browserUrl(loginLink)]);
  if (portal !== undefined) pages.push(['Portal pages', browserUrl(portal.url)]);
  if (administratorLink !== undefined) pages.push(['Administrator login', browserUrl(administratorLink)]);
  if (batchUrl !== undefined && portal?.mailFolder !== undefined)
    pages.push(['Development mailbox', `${browserUrl(batchUrl)}/mails`]);
  if (urls.length > 0) pages.push(['API reference', urls.map((url) => `${url}/scalar/v1`).join('  ')]);
  return pages;
}

/** The address at which this machine opens a listener of all addresses; browsers of some systems refuse `0.0.0.0`. */
function browserUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function portalKeyText(
  { organization, application, secret }: NonNullable<BannerInfo['portal']>['keys'][number],
  place: Paint,
): string {
  const whose = `(organization ${organization})`;
  if (secret === undefined) return `${application}|… as configured  ${whose}`;
  const kept = `kept in ${place(secret.path)}`;
  return secret.made === undefined
    ? `${application}|… ${kept}  ${whose}`
    : `${application}|${secret.made}  ${whose}, shown this once, ${kept}`;
}

function profileText({ name, source, verify, encrypt, validate }: BannerInfo['profiles'][number]): string {
  const flags = [
    `verify ${onOff(verify)}`,
    `encrypt ${onOff(encrypt)}`,
    ...(validate === undefined ? [] : [`validate certificate ${onOff(validate)}`]),
  ];
  return `${name}: ${source}, ${flags.join(', ')}`;
}

function onOff(flag: boolean): string {
  return flag ? 'on' : 'off';
}

function apiKeyText({ apiKey }: BannerInfo, place: Paint): string {
  if (apiKey.from === 'configuration') return 'as configured';
  if (apiKey.from === 'nowhere') return 'configured as empty: protected endpoints refuse everybody';
  const kept = `kept in ${place(apiKey.path)}`;
  return apiKey.made === undefined ? kept : `${apiKey.made}  (shown this once, ${kept})`;
}

function certificateText({ certificate }: BannerInfo, place: Paint): string {
  const { subject, path, development } = certificate;
  if (path === '') return subject;
  return `${subject}, ${place(path)}${development ? ' (development)' : ''}`;
}

/** Makes the request that creates a document of the answer to an upload. */
const CREATION =
  's/^{/{"displayName":"Hello",/; s/.*/{"files":[&],"flowActions":[{"type":"Signer","user":{"name":"Ana","email":"ana@example.com"},"allowElectronicSignature":true}]}/';

/** Commands that work unchanged on a machine without any preparation. */
function commandsToCopy(facts: BannerInfo, place: Paint): string[] {
  const commands: string[] = [];
  const folder = facts.inputs[0]?.path;
  if (folder !== undefined) commands.push(`echo Hello > ${quoted(`${place(folder)}/hello.txt`)}`);
  if (facts.batchUrl !== undefined && facts.apiKey.from !== 'nowhere') {
    const key =
      facts.apiKey.from === 'file' ? `$(cat ${quoted(place(facts.apiKey.path))})` : '<your API key>';
    commands.push(
      `echo Hello | curl -H "${facts.apiKeyHeader}: ${key}" -F 'file=@-;filename=hello.txt' ${facts.batchUrl}/api/files`,
    );
  }
  if (commands.length > 0) commands.push(`ls ${quoted(place(facts.output))}`);
  const [key] = facts.portal?.keys ?? [];
  if (facts.portal !== undefined && key?.secret !== undefined) {
    const { url } = facts.portal;
    commands.push(
      `KEY="${key.application}|$(cat ${quoted(place(key.secret.path))})"`,
      `echo Hello | curl -sH "X-Api-Key: $KEY" -F 'file=@-;filename=hello.txt' ${url}/api/uploads | sed '${CREATION}' | curl -sH "X-Api-Key: $KEY" -H 'Content-Type: application/json' -d @- ${url}/api/documents`,
    );
  }
  return commands;
}

/** Returns the word, in single quotes if the shell requires it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function shortPath(path: string, cwd: string): string {
  return cwd !== '/' && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
