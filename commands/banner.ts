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
  /** `Storage:Root`, absolute. */
  readonly root: string;
  readonly inputs: readonly {
    readonly name: string;
    readonly path: string;
    /** False: a bucket. @default true */
    readonly isFolder?: boolean;
  }[];
  readonly apiKeyHeader: string;
  readonly encryption: boolean;
  readonly maxConcurrency: number;
  readonly pollIntervalSeconds: number;
  /** Links that log a person in once, with their labels; without a terminal the file of the link. Undefined: there is none. */
  readonly logins?:
    | { readonly links: readonly (readonly [label: string, url: string])[] }
    | { readonly path: string }
    | undefined;
  /** Path of this program, for commands to copy. Undefined: unknown. */
  readonly program?: string | undefined;
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
  const bold = paint(1);
  const dim = paint(2);
  const yellow = paint(33);
  const place = (path: string) => shortPath(path, facts.cwd);

  const rows: [string, string][] = [
    ['Batch API', batchText(facts, place)],
    ['API key', apiKeyText(facts, place)],
    ...portalRows(facts, place),
    ...loginRows(facts),
    ['Folders', foldersText(facts, place)],
    ['Certificate', certificateText(facts, place)],
    ...facts.profiles.map((profile): [string, string] => ['Profile', profileText(profile)]),
    [
      'Pipeline',
      `${facts.paused ? 'paused' : 'running'}, ${plural(facts.maxConcurrency, 'job')} at once, queue checked every ${facts.pollIntervalSeconds} s, encryption ${onOff(facts.encryption)}`,
    ],
  ];
  const warnings = [
    ...(facts.certificate.development
      ? [
          'The signing certificate was made here for development. Nobody else trusts it; set Signing:Certificate for real use.',
        ]
      : []),
    ...facts.warnings,
  ];
  const commands = commandsToCopy(facts, place);
  const width = Math.max(...rows.map(([label]) => label.length));

  const lines = [
    '',
    `${bold(`sealwright ${facts.version}`)}  ${dim(facts.environment)}`,
    ...rows.map(([label, value]) => `  ${dim(label.padEnd(width))}  ${escapeControls(value)}`),
    ...warnings.map((text) => `  ${yellow('!')} ${escapeControls(text)}`),
    ...(commands.length === 0
      ? []
      : ['  Try it:', ...commands.map((command) => `    ${bold(escapeControls(command))}`)]),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function portalRows({ portal }: BannerInfo, place: Paint): [string, string][] {
  if (portal === undefined) return [['Portal', 'not served']];
  const { url, mailFolder, keys } = portal;
  const mails = mailFolder === undefined ? 'e-mails go through the relay' : `e-mails in ${place(mailFolder)}`;
  return [
    ['Portal', `${url}  (${mails})`],
    ...keys.map((key): [string, string] => ['Portal key', portalKeyText(key, place)]),
  ];
}

function batchText({ batchUrl, logins }: BannerInfo, place: Paint): string {
  if (batchUrl === undefined) return 'not served (Batch:Enabled is false)';
  return logins !== undefined && 'path' in logins
    ? `${batchUrl}  (login link in ${place(logins.path)})`
    : batchUrl;
}

function loginRows({ logins }: BannerInfo): [string, string][] {
  return logins !== undefined && 'links' in logins
    ? logins.links.map(([label, url]) => [label, browserUrl(url)])
    : [];
}

function foldersText({ inputs, output, store }: BannerInfo, place: Paint): string {
  const watched = inputs.map(
    ({ name, path, isFolder }) =>
      `${isFolder === false ? path : place(path)}${name === 'default' ? '' : ` (${name})`}`,
  );
  const files = [...(watched.length === 0 ? [] : [`input ${watched.join(', ')}`]), `output ${place(output)}`];
  return `${files.join(', ')}, store ${store.engine} (${place(store.location)})`;
}

/** The address at which this machine opens a listener of all addresses; browsers of some systems refuse `0.0.0.0`. */
export function browserUrl(url: string): string {
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

/** Commands that work unchanged on a machine without any preparation. */
function commandsToCopy(facts: BannerInfo, place: Paint): string[] {
  const commands: string[] = [];
  const folder = facts.inputs.find(({ isFolder = true }) => isFolder)?.path;
  if (folder !== undefined) commands.push(`echo Hello > ${quoted(`${place(folder)}/hello.txt`)}`);
  if (facts.batchUrl !== undefined && facts.apiKey.from !== 'nowhere') {
    const key =
      facts.apiKey.from === 'file' ? `$(cat ${quoted(place(facts.apiKey.path))})` : '<your API key>';
    commands.push(
      `echo Hello | curl -H "${facts.apiKeyHeader}: ${key}" -F 'file=@-;filename=hello.txt' ${facts.batchUrl}/api/files`,
    );
  }
  // Makes a document of the portal, and signs it as a person would.
  if (facts.portal !== undefined && facts.program !== undefined)
    commands.push([`node ${quoted(facts.program)} try`, ...rootOption(facts, place)].join(' '));
  return commands;
}

/** A command finds the service by its folder, which is named where it is another than that without options. */
function rootOption({ root }: BannerInfo, place: Paint): string[] {
  return place(root) === 'data' ? [] : [quoted(`--Storage:Root=${place(root)}`)];
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
