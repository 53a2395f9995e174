/**
 * `sealwright keys`: organizations, applications and API keys of the portal, while the service is stopped. While it
 * runs it alone may write to its store, and the command names the calls of its API that do the same.
 *
 * Source: docs/operations.md; docs/portal-values.md §0.
 */

import type { ActorStore, Log } from '@sealwright/runtime';
import { folderOwner } from '@sealwright/runtime/lmdb';
import {
  ACTOR_KINDS,
  administrationOf,
  createHistory,
  createStorageFolders,
  type History,
  RESTING_STATES,
  storageLayout,
} from '../actors/index.ts';
import { escapeControls } from '../logging.ts';
import { SYSTEM_ORGANIZATION } from '../machines/portal/accounts/organization.ts';
import { accessOf, type UserRole } from '../machines/portal/accounts/portal-user.ts';
import { historyAnchor } from '../service/history-anchor.ts';
import {
  keepHistoryKey,
  keepPortalSecret,
  openKeyFolder,
  refuseLostKeys,
  SECRET_FILE,
} from '../service/key-folder.ts';
import { openStore } from '../service/open-store.ts';
import { readServiceFile } from '../service/service-file.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { type CommandContext, painter, type Terminal } from './terminal.ts';

type Offline = Awaited<ReturnType<typeof administrationOf>>;
type Administration = Offline['administration'];
type Organization = NonNullable<Awaited<ReturnType<Administration['findOrganization']>>>;
export type KeyRole = Organization['applications'][number]['role'];

export type KeysArguments =
  | { readonly do: 'list' }
  | { readonly do: 'organization'; readonly organization: string; readonly identifier?: string }
  /** Makes what is missing, and a key. */
  | {
      readonly do: 'create';
      readonly organization: string;
      readonly application: string;
      readonly role: KeyRole;
      /** True: its only scope is `Provision`. */
      readonly provision?: boolean;
    }
  /** Adds a user, and the organization if it is missing. */
  | {
      readonly do: 'user';
      readonly organization: string;
      readonly email: string;
      readonly name: string;
      readonly role: UserRole;
    }
  /** Makes a link that signs a user in. */
  | { readonly do: 'sign-in'; readonly organization: string; readonly email: string }
  /** Removes the second factor of a user. */
  | { readonly do: 'reset-factor'; readonly organization: string; readonly email: string }
  | {
      readonly do: 'revoke';
      readonly organization: string;
      readonly application: string;
      /** Beginning of the secret, or the id of the key. */
      readonly key: string;
    };

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** Organizations read at a time. */
const PAGE = 100;

/** Resolves with 0: success, 1: no such key to revoke, 2: refused, 3: the store is not available, as while the service runs. */
export async function keys(
  settings: Settings,
  words: KeysArguments,
  options: { readonly json: boolean },
  { clock, ids, terminal }: CommandContext,
): Promise<ExitCode> {
  const layout = storageLayout(settings.storage.root);
  const owner = folderOwner(layout.db);
  if (owner !== undefined) {
    terminal.err(running(owner, settings, words));
    return EXIT.unavailable;
  }
  try {
    createStorageFolders(layout, []);
    const store = await openStore(settings, clock, SILENT);
    try {
      // A node that runs the history covers what this one does.
      const covers = store.nodes === undefined || (await store.nodes.acquire('history'));
      const history = covers ? await openHistory(settings, store, { clock, ids }) : undefined;
      await history?.start();
      const offline = await administrationOf({
        store,
        clock,
        ids,
        log: SILENT,
        onCommitted: (step) => history?.observe(step),
      });
      const exit = await (words.do === 'sign-in'
        ? signInLink(offline, words, { settings, json: options.json, context: { ids, terminal } })
        : execute(offline, words, options.json, terminal)
      ).finally(() => history?.stop());
      await offline.stop();
      await store.flushed();
      return exit;
    } finally {
      await store.close();
    }
  } catch (error) {
    terminal.err(`sealwright keys: ${error instanceof Error ? error.message : String(error)}\n`);
    return isRefusal(error) ? EXIT.refused : exitCodeOf(error);
  }
}

/** Covers the changes by a checkpoint, as the service would. */
async function openHistory(
  { storage, history }: Settings,
  store: ActorStore,
  { clock, ids }: Pick<CommandContext, 'clock' | 'ids'>,
): Promise<History> {
  const keys = openKeyFolder(storage.keysPath, ids, storageLayout(storage.root).keys);
  await refuseLostKeys(store, keys);
  return createHistory(
    {
      key: await keepHistoryKey(keys),
      anchor: historyAnchor(keys),
      every: history.checkpointMinutes * 60_000,
      webhookUrl: history.webhookUrl,
      timestampUrl: history.timestampUrl,
    },
    { store, clock, ids, log: SILENT },
    ACTOR_KINDS,
    RESTING_STATES,
  );
}

function isRefusal(error: unknown): boolean {
  return (error as { name?: unknown }).name === 'PortalRefusal';
}

async function execute(
  { administration, users, resetFactor }: Offline,
  words: Exclude<KeysArguments, { readonly do: 'sign-in' }>,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  switch (words.do) {
    case 'list':
      return list(administration, json, terminal);
    case 'organization': {
      const { organization: name, identifier } = words;
      const made = await administration.createOrganization({ name, ...(identifier && { identifier }) });
      printSecret(terminal, json, { id: made.id, name: made.name }, `Organization ${made.name} made.`);
      return EXIT.good;
    }
    case 'create':
      return create(administration, words, json, terminal);
    case 'user': {
      const { organization: named, email, name, role } = words;
      const { id, name: organization } =
        (await administration.findOrganization(named)) ??
        (await administration.createOrganization({ name: named }));
      const profile = { name, email, identifier: null, phone: null };
      const user = await users.add(id, profile, accessOf(role), 'the command line');
      const facts = { id: user.id, organization, email: user.email, role };
      const text = `${user.email} is ${role} of ${organization}, and signs in at /sign-in of the portal.`;
      printSecret(terminal, json, facts, escapeControls(text));
      return EXIT.good;
    }
    case 'reset-factor': {
      const { organization: named, email } = words;
      const organization = await administration.findOrganization(named);
      const who = escapeControls(email);
      if (organization === undefined || !(await resetFactor(organization.id, email))) {
        const where = escapeControls(named);
        terminal.err(`sealwright keys: ${who} is no user of ${where} with a second factor.\n`);
        return EXIT.refused;
      }
      printSecret(terminal, json, { email }, `The second factor of ${who} is removed.`);
      return EXIT.good;
    }
    case 'revoke':
      return revoke(administration, words, json, terminal);
  }
}

/** For an administrator who cannot sign in at the provider, or has no mail. */
async function signInLink(
  { administration, signInLink: make }: Offline,
  { organization: named, email }: Extract<KeysArguments, { readonly do: 'sign-in' }>,
  {
    settings,
    json,
    context: { ids, terminal },
  }: {
    readonly settings: Settings;
    readonly json: boolean;
    readonly context: Pick<CommandContext, 'ids' | 'terminal'>;
  },
): Promise<ExitCode> {
  const { storage, portal, runtime } = settings;
  const folder = openKeyFolder(storage.keysPath, ids);
  // Nodes compare their keys; this machine need not be one.
  if (runtime.store === 'postgres' && folder.read(SECRET_FILE) === undefined) {
    const remedy = 'Start a node first, or name the folder with the keys of one (Storage:KeysPath).';
    terminal.err(`sealwright keys: ${folder.path} has no ${SECRET_FILE}, which signs links. ${remedy}\n`);
    return EXIT.refused;
  }
  const organization = await administration.findOrganization(named);
  const publicUrl = portal.publicUrl ?? portal.url.href;
  const link =
    organization &&
    (await make(organization.id, email, {
      // Before the first start there is none.
      secret: Buffer.from((await keepPortalSecret(folder, ids)).value, 'base64url'),
      publicUrl,
    }));
  if (link === undefined) {
    const who = `${escapeControls(email)} is no user with a role in ${escapeControls(named)}`;
    terminal.err(`sealwright keys: ${who}. "keys user" adds one.\n`);
    return EXIT.refused;
  }
  const text = `Start the service and open this link within 15 minutes. It signs ${escapeControls(email)} in once.\n`;
  terminal.out(json ? `${JSON.stringify({ email, link })}\n` : `${link}\n${text}`);
  return EXIT.good;
}

async function list(administration: Administration, json: boolean, terminal: Terminal): Promise<ExitCode> {
  const { bold, dim } = painter(terminal);
  const all: Organization[] = [];
  for (let offset = 0; ; offset++) {
    const { items } = await administration.organizations({ limit: PAGE, offset });
    all.push(...items);
    if (items.length < PAGE) break;
  }
  if (json) {
    terminal.out(`${JSON.stringify(all.map(secretText))}\n`);
    return EXIT.good;
  }
  if (all.length === 0) terminal.out('There is no organization yet.\n');
  for (const { name, id, applications } of all) {
    terminal.out(`${bold(escapeControls(name))} ${dim(id)}\n`);
    for (const application of applications) {
      terminal.out(`  ${escapeControls(application.name)} (${application.role})\n`);
      for (const { prefix, creationDate, lastUseDate } of application.keys) {
        const used = lastUseDate === null ? 'never used' : `last used ${timeText(lastUseDate)}`;
        terminal.out(`    ${prefix}...  made ${timeText(creationDate)}, ${used}\n`);
      }
    }
  }
  return EXIT.good;
}

async function create(
  administration: Administration,
  words: Extract<KeysArguments, { readonly do: 'create' }>,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const { organization: organizationName, application: name, role, provision = false } = words;
  const organization =
    (await administration.findOrganization(organizationName)) ??
    (await administration.createOrganization({ name: organizationName }));
  const existing = organization.applications.find((application) => application.name === name);
  if (existing !== undefined && existing.role !== role) {
    terminal.err(
      `sealwright keys: ${escapeControls(name)} has the role ${existing.role}; roles do not change.\n`,
    );
    return EXIT.refused;
  }
  const application = existing ?? (await administration.createApplication(organization.id, { name, role }));
  const { id, key } = await administration.createSecret(
    organization.id,
    application.id,
    provision ? { scopes: ['Provision'] } : {},
  );
  const facts = { id, key, organization: organization.name, role };
  printSecret(
    terminal,
    json,
    facts,
    `${key}\nIt is shown this once. Send it as ${provision ? 'a bearer token to /scim/v2' : 'X-Api-Key'}.`,
  );
  return EXIT.good;
}

async function revoke(
  administration: Administration,
  words: Extract<KeysArguments, { readonly do: 'revoke' }>,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const organization = await administration.findOrganization(words.organization);
  const application = organization?.applications.find(({ name }) => name === words.application);
  const found = application?.keys.filter(
    ({ id, prefix }) => id === words.key || (words.key !== '' && prefix.startsWith(words.key)),
  );
  const [secret] = found ?? [];
  if (!organization || !application || !secret) {
    terminal.err('sealwright keys: there is no such key; `sealwright keys list` shows what there is.\n');
    return EXIT.failed;
  }
  if (found && found.length > 1) {
    terminal.err('sealwright keys: two keys begin like this; give the id that `keys list --json` shows.\n');
    return EXIT.refused;
  }
  await administration.revokeSecret(organization.id, application.id, secret.id);
  printSecret(terminal, json, { id: secret.id, revoked: true }, `${secret.prefix}... is revoked.`);
  return EXIT.good;
}

function printSecret(terminal: Terminal, json: boolean, facts: object, text: string): void {
  terminal.out(json ? `${JSON.stringify(facts)}\n` : `${text}\n`);
}

/** The names of members are those of the store. */
function secretText({ applications, creationDate, ...organization }: Organization) {
  return {
    ...organization,
    createdAt: timeText(creationDate),
    applications: applications.map(({ keys, ...application }) => ({
      ...application,
      secrets: keys.map(({ id, prefix, creationDate, lastUseDate, scopes, expirationDate, ...key }) => ({
        id,
        prefix,
        createdAt: timeText(creationDate),
        lastUsedAt: lastUseDate === null ? null : timeText(lastUseDate),
        scopes,
        expiresAt: expirationDate,
        expiry: key.expiry,
        folders: key.folderIds,
      })),
    })),
  };
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}

/** Remedy while another process has the store open. */
function running(owner: number, settings: Settings, words: KeysArguments): string {
  const calls = {
    list: 'GET /api/admin/organizations',
    organization: 'POST /api/admin/organizations',
    create: 'POST /api/admin/organizations/{id}/applications/{applicationId}/keys',
    user: 'POST /api/organizations/{id}/users',
    revoke: 'DELETE /api/admin/organizations/{id}/applications/{applicationId}/keys/{keyId}',
  } as const;
  const why = `sealwright keys: the service runs (process ${owner}) and alone may write to its store.\n`;
  if (words.do === 'sign-in') return `${why}Stop it first, and start it again with the link at hand.\n`;
  if (words.do === 'reset-factor')
    return `${why}Stop it first, or let another administrator reset it on the page of the user.\n`;
  return [
    `${why}Stop it first, or ask it, with the key of an Administrator of ${SYSTEM_ORGANIZATION}:`,
    `  ${calls[words.do]} at ${readServiceFile(settings)?.portalUrl ?? settings.portal.url.href}`,
    '',
  ].join('\n');
}
